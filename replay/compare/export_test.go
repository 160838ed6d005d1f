package compare

// Outline is the outline of a side, for tests from outside.
var Outline = Side.outline
