// What people do with the story: fold it, go through it, and look closer at its times.
(() => {
	'use strict';
	const root = document.documentElement;
	const story = document.getElementById('story');
	root.classList.add('js');
	if (!story) return;

	const foldable = 'details.turn, details.step';
	const openUp = e => {
		for (; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
	};
	const acts = {
		open: () => { for (const d of story.querySelectorAll(foldable)) d.open = true; },
		close: () => { for (const d of story.querySelectorAll(foldable)) d.open = false; },
		bad: b => {
			const only = root.classList.toggle('only-failed');
			b.ariaPressed = only;
			if (only) for (const e of story.querySelectorAll('.step.wrong')) openUp(e.parentElement);
		},
	};
	story.addEventListener('click', e => {
		const b = e.target.closest('button');
		if (b?.dataset.fold) acts[b.dataset.fold](b);
		else if (b?.classList.contains('more')) b.textContent = b.previousElementSibling.classList.toggle('all') ? 'show less' : 'show all';
	});

	for (const a of story.querySelectorAll('.again')) {
		const copy = document.querySelector(a.hash)?.closest('details').cloneNode(true);
		if (!copy) continue;
		copy.querySelector('img').removeAttribute('id');
		copy.querySelector('summary').title = a.textContent;
		a.parentNode.replaceWith(copy);
	}

	// here returns the step or turn that has the focus, or else that at the top of the screen.
	const top = 84;
	const column = () => {
		const r = (story.querySelector('.column') ?? story).getBoundingClientRect();
		return r.left + r.width / 2;
	};
	const at = what => document.elementFromPoint(column(), top)?.closest(what);
	const here = what => (story.contains(document.activeElement) && document.activeElement.closest(what)) || at(what);
	function go(by, what, from) {
		const wanted = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
		const list = Array.from(story.querySelectorAll(what)).filter(e => e !== from && (!from || from.compareDocumentPosition(e) & wanted));
		const to = by > 0 ? list[0] : list.at(-1);
		if (!to) return;
		openUp(to.parentElement);
		to.scrollIntoView({block: to.matches('.turn') ? 'start' : 'center'});
		const stop = to.querySelector(':scope > summary') ?? to;
		if (stop === to) to.tabIndex = -1;
		stop.focus({preventScroll: true});
	}
	const wrong = '.turn.wrong, .step.wrong';
	const press = {
		e: () => go(1, wrong, here('.step, .turn')), E: () => go(-1, wrong, here('.step, .turn')),
		']': () => go(1, '.turn', here('.turn')), '[': () => go(-1, '.turn', here('.turn')),
		x: () => {
			const d = here('details');
			if (d) d.open = !d.open;
		},
	};
	document.addEventListener('keydown', e => {
		if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(press, e.key) || e.target.closest('#list, #panel, input, textarea, dialog')) return;
		e.preventDefault();
		press[e.key]();
	});

	// The rail shows which turn is at the top of the screen. Of its links one is a stop of the
	// tab key; the arrow keys lead to the others.
	const links = new Map(Array.from(document.querySelectorAll('.rail a'), a => [a.hash.slice(1), a]));
	let current;
	function mark(a) {
		current?.removeAttribute('aria-current');
		for (const one of current ? [current] : links.values()) one.tabIndex = -1;
		current = a;
		a.ariaCurrent = 'location';
		a.tabIndex = 0;
		const list = a.closest('ol'), y = a.offsetTop - list.offsetTop;
		if (y < list.scrollTop || y + a.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = y - list.clientHeight / 2;
	}
	if (links.size) {
		mark(links.values().next().value);
		for (const a of story.querySelectorAll('.strip a')) a.setAttribute('tabindex', '-1'); // they lead where the rail does
		let waiting = false;
		document.addEventListener('scroll', () => {
			if (waiting) return;
			waiting = true;
			requestAnimationFrame(() => {
				waiting = false;
				const a = links.get(at('.turn')?.id);
				if (a && a !== current) mark(a);
			});
		}, {passive: true});
		story.addEventListener('keydown', e => {
			const item = e.target.closest('.rail li'), by = {ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling'}[e.key];
			const next = item && by && item[by]?.firstElementChild;
			if (!next) return;
			e.preventDefault();
			mark(next);
			next.focus();
		});
		for (const a of links.values()) a.addEventListener('click', () => openUp(document.getElementById(a.hash.slice(1))));
	}

	// Times are in µs, places on an axis from 0 to 1.
	function readable(us) {
		const s = us / 1e6;
		if (us < 1000) return `${Math.floor(us)} µs`;
		if (s < 1) return `${Math.floor(us / 1e3)} ms`;
		if (s < 59.95) return s.toFixed(s < 9.995 ? 2 : 1) + ' s';
		const m = Math.round(s);
		return (m >= 3600 ? `${Math.floor(m / 3600)}h` : '') + `${Math.floor(m / 60) % 60}m${m % 60}s`;
	}
	const tick = us => us > 0 && us < 1e6 ? `${+(us / 1e3).toFixed(3)} ms` : us < 6e7 ? `${+(us / 1e6).toFixed(3)} s` : readable(us);
	const steps = [1, 2, 5].flatMap(n => Array.from({length: 8}, (_, i) => n * 10 ** i)).filter(n => n < 3e7)
		.concat([30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400].map(s => s * 1e6)).sort((a, b) => a - b);
	const svg = (tag, attributes) => {
		const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
		for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
		return e;
	};
	const views = new WeakMap(); // what is seen of the axis of lanes that are zoomed
	const view = lanes => views.get(lanes) ?? [0, 1];
	const first = new WeakMap(); // the ticks of lanes before they were zoomed
	function zoom(lanes, from, to) {
		const length = Number(lanes.dataset.length), axis = lanes.querySelector('.axis svg'), grid = axis.querySelector('g');
		if (!first.has(lanes)) first.set(lanes, [[...axis.querySelectorAll('text')], [...grid.children]]);
		const whole = from <= 0 && to >= 1;
		if (whole) views.delete(lanes);
		else views.set(lanes, [from, to]);
		lanes.classList.toggle('zoomed', !whole);
		lanes.style.setProperty('--zoom', whole ? 1 : 1 / (to - from));
		lanes.style.setProperty('--shift', whole ? 0 : from);
		let [texts, lines] = first.get(lanes);
		if (!whole) {
			const step = steps.find(n => n >= (to - from) * length / 5) ?? 86400e6;
			[texts, lines] = [[], []];
			for (let t = Math.ceil(from * length / step) * step; t <= to * length && texts.length < 12; t += step) {
				const x = `${100 * t / length}%`, text = svg('text', {x, y: 13, 'text-anchor': 'middle'});
				text.textContent = tick(t);
				texts.push(text);
				lines.push(svg('line', {x1: x, x2: x, y2: 24}));
			}
		}
		grid.replaceChildren(...lines);
		axis.replaceChildren(grid.parentNode, ...texts);
	}

	// A line follows the pointer with its time; dragging chooses what to zoom to.
	const line = document.createElement('div'), time = document.createElement('span');
	line.className = 'pointer';
	line.ariaHidden = 'true';
	line.append(time);
	let begun = null; // where dragging began: lanes and place
	function place(e) {
		const cell = e.target.closest?.('.time'), lanes = cell?.closest('.lanes[data-length]');
		if (!lanes) return null;
		const r = cell.getBoundingClientRect(), x = Math.min(Math.max((e.clientX - r.left) / r.width, 0), 1);
		const [from, to] = view(lanes);
		return {lanes, cell, x, at: from + x * (to - from)};
	}
	story.addEventListener('pointermove', e => {
		if (e.pointerType === 'touch') return;
		const p = place(e);
		if (!p || begun && begun.lanes !== p.lanes) {
			line.remove();
			return;
		}
		if (line.parentNode !== p.lanes) p.lanes.append(line);
		const outer = p.lanes.getBoundingClientRect(), r = p.cell.getBoundingClientRect();
		const from = begun ? Math.min(begun.x, p.x) : p.x, to = begun ? Math.max(begun.x, p.x) : p.x;
		line.style.left = `${r.left - outer.left + from * r.width}px`;
		line.style.width = `${(to - from) * r.width}px`;
		const length = Number(p.lanes.dataset.length);
		time.textContent = begun ? readable(Math.abs(p.at - begun.at) * length) : readable(p.at * length);
		line.classList.toggle('left', p.x > .8);
	});
	story.addEventListener('pointerleave', () => line.remove());
	story.addEventListener('pointerdown', e => {
		if (e.button === 0 && e.pointerType !== 'touch') begun = place(e);
	});
	document.addEventListener('pointerup', e => {
		const from = begun, to = begun && place(e);
		begun = null;
		if (!to || to.lanes !== from.lanes || Math.abs(to.x - from.x) < .01) return;
		line.remove();
		zoom(to.lanes, Math.min(from.at, to.at), Math.max(from.at, to.at));
		const stop = e => { // the click on the row on which dragging ended
			e.preventDefault();
			e.stopPropagation();
		};
		addEventListener('click', stop, {capture: true, once: true});
		setTimeout(() => removeEventListener('click', stop, true));
	});
	story.addEventListener('dblclick', e => {
		const p = place(e);
		if (p) zoom(p.lanes, 0, 1);
	});

	// While the tape is recorded, what is open grows until now.
	const began = Number(root.dataset.began);
	function grow() {
		const now = (Date.now() - began) * 1000;
		for (const clock of document.querySelectorAll('.running')) clock.textContent = readable(Math.max(now, 0));
		for (const lanes of story.querySelectorAll('.lanes[data-length]:not(.zoomed)')) {
			const bars = lanes.querySelectorAll('rect.open');
			if (!bars.length) continue;
			const length = Number(lanes.dataset.length), all = Math.max(now - Number(lanes.dataset.from), length);
			lanes.style.setProperty('--zoom', length / all);
			for (const bar of bars) {
				const x = parseFloat(bar.getAttribute('x'));
				bar.setAttribute('width', `${100 * all / length - x}%`);
				bar.closest('.lane').querySelector('.took').textContent = readable(all - x / 100 * length);
			}
		}
		setTimeout(grow, 1000);
	}
	if (began && root.dataset.live) grow();
})();

// The tables of numbers are sorted by a click on a heading.
(() => {
	'use strict';
	const units = {'µs': 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, '%': 1};
	// valueOf returns what a cell counts or measures, or NaN.
	function valueOf(text) {
		text = text.replace(/[,~<×]/g, '').trim();
		if (/^-?[\d.]+( [A-Z]{3})?$/.test(text)) return parseFloat(text);
		if (!/^([\d.]+ ?(µs|ms|s|m|h|B|kB|MB|GB|%))+$/.test(text)) return NaN;
		let sum = 0;
		for (const [, n, unit] of text.matchAll(/([\d.]+) ?(µs|ms|kB|MB|GB|s|m|h|B|%)/g)) sum += n * units[unit];
		return sum;
	}
	for (const table of document.querySelectorAll('#numbers table')) {
		const body = table.tBodies[0];
		if (body.rows.length < 3) continue;
		Array.from(table.tHead.rows[0].cells).forEach((cell, column) => {
			if (cell.querySelector('svg')) return;
			const button = document.createElement('button');
			button.type = 'button';
			button.className = 'sort';
			button.append(...cell.childNodes);
			cell.append(button);
			if (column > 0) button.tabIndex = -1; // the arrow keys lead to it
			button.addEventListener('keydown', e => cell[{ArrowRight: 'nextElementSibling', ArrowLeft: 'previousElementSibling'}[e.key]]?.querySelector('button')?.focus());
			button.addEventListener('click', () => {
				const down = cell.ariaSort ? cell.ariaSort === 'ascending' : cell.classList.contains('n');
				for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
				cell.ariaSort = down ? 'descending' : 'ascending';
				const key = row => row.cells[column].textContent;
				const order = (a, b) => {
					const [x, y] = [valueOf(a), valueOf(b)];
					if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1; // what has no number comes last
					return (isNaN(x) ? a.localeCompare(b) : x - y) * (down ? -1 : 1);
				};
				body.append(...Array.from(body.rows).sort((a, b) => order(key(a), key(b))));
			});
		});
	}
})();
