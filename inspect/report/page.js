(() => {
	'use strict';
	const root = document.documentElement;
	const began = performance.now();

	// The theme is that of the system, or the other one for this view.
	const theme = document.getElementById('theme');
	theme.hidden = false;
	theme.addEventListener('click', () => {
		const dark = root.classList.contains('dark') || !root.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches;
		root.classList.toggle('dark', !dark);
		root.classList.toggle('light', dark);
	});

	root.dataset.ready = Math.round(performance.now() - began);
})();
