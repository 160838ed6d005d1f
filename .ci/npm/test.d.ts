/** What must agree between a message of the client and the recorded one. */
export type Match = "content" | "method" | "exact";

/** When to record into the file; see acptap help testing. */
export type Mode = "once" | "none" | "new" | "all";

export interface Options {
  match?: Match;
  /** By default $ACPTAP_MODE, and otherwise "none": the tape is replayed. */
  mode?: Mode;
  /** The agent and its arguments, for modes that record. */
  agent?: string[];
  /** Changes the traffic by a fault: NAME or NAME,KEY=VALUE; acptap rules list names them. */
  fault?: string;
  /** Further arguments of acptap replay agent. */
  args?: string[];
}

/** How a replay went. */
export interface Report {
  sent: number;
  received: number;
  matched: number;
  misses: { miss: string; expected?: { seq: number; method: string }; differs?: { path: string; want: string; got: string }[] }[];
  neverCame: { seq: number; method: string }[];
  left: number;
  notes: string[];
  /** How the agent on the tape ended, if the tape has it. */
  exit?: { code: number; signal?: string };
}

/** A recorded agent, for a client that starts its agent as a program. */
export interface ReplayAgent {
  command: string;
  args: string[];
  /** The file that will hold the report. */
  report: string;
  /**
   * Resolves when the agent has ended, and rejects if the client did not do what is on the
   * tape; the error says what differs. Call it after the client has closed the agent.
   */
  done(): Promise<Report>;
}

/** Prepares the agent on a tape in the portable form. */
export function replayAgent(tape: string, options?: Options): ReplayAgent;

/** A recorded agent that runs. */
export interface Connection {
  /** The agent's stdin; closing it ends the agent. */
  writable: WritableStream<Uint8Array>;
  /** The agent's stdout. */
  readable: ReadableStream<Uint8Array>;
  /** Closes the agent's stdin, and is otherwise as {@link ReplayAgent.done}. */
  done(): Promise<Report>;
}

/** Starts the agent on a tape, for a client that takes streams, such as that of @agentclientprotocol/sdk. */
export function connect(tape: string, options?: Options): Connection;
