(() => {
	'use strict';
	const root = document.documentElement;
	const $ = id => document.getElementById(id);

	// make returns an element. Text from the wire becomes text and nothing else.
	const make = (tag, className, ...inside) => {
		const e = document.createElement(tag);
		if (className) e.className = className;
		e.append(...inside);
		return e;
	};
	const button = (text, act) => {
		const b = make('button', '', text);
		b.type = 'button';
		b.addEventListener('click', () => act(b));
		return b;
	};

	// The theme is that of the system, or the other one for this view.
	$('theme').hidden = false;
	$('theme').addEventListener('click', () => {
		const dark = root.classList.contains('dark') || !root.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches;
		root.classList.toggle('dark', !dark);
		root.classList.toggle('light', dark);
	});

	// While the tape is recorded, the page is written again and again. It is read as often,
	// unless somebody is at something in it, and looks afterwards as it did.
	const every = Number(root.dataset.live), before = history.state?.before;
	const folded = () => new Map(Array.from(document.querySelectorAll('details[id]'), d => [d.id, d]));
	const openAtFirst = new Set(Array.from(folded()).flatMap(([id, d]) => d.open ? id : []));
	// A turn that is read stays open, also if it is no longer the last.
	const isRead = d => d.matches('.turn[open]') && (r => r.bottom > 0 && r.top < innerHeight)(d.getBoundingClientRect());
	function look() {
		const at = document.elementFromPoint(innerWidth / 2, 100)?.closest('[id]');
		return {
			id: at?.id, top: at?.getBoundingClientRect().top, scroll: scrollY, theme: ['dark', 'light'].filter(c => root.classList.contains(c)),
			// Turns out of view have no sizes of their own at first.
			turns: Array.from(document.querySelectorAll('.turn'), e => [e.id, parseFloat(getComputedStyle(e).height)]),
			list: $('list')?.scrollTop, fold: $('fold')?.checked,
			details: Array.from(folded()).flatMap(([id, d]) => d.open === openAtFirst.has(id) && !isRead(d) ? [] : [[id, d.open]]),
		};
	}
	function again() {
		const busy = $('keys')?.open || document.activeElement === $('query') || $('panel')?.contains(document.activeElement) || !getSelection().isCollapsed;
		if (busy) setTimeout(again, every);
		else if (document.hidden) document.addEventListener('visibilitychange', again, {once: true});
		else {
			history.replaceState({before: look()}, '');
			history.scrollRestoration = 'manual'; // else the browser scrolls, too, and later
			location.reload();
		}
	}
	async function lookAsBefore() {
		for (const [id, height] of before.turns) if ($(id)) $(id).style.containIntrinsicBlockSize = `auto ${height}px`;
		for (const [id, open] of before.details) if (folded().has(id)) folded().get(id).open = open;
		if ($('list')) $('list').scrollTop = before.list;
		scrollTo(0, before.scroll);
		const at = $(before.id);
		if (!at || !before.scroll) return;
		for (let n = 0; n < 10; n++) { // those near the screen get them step by step
			scrollBy(0, at.getBoundingClientRect().top - before.top);
			await new Promise(requestAnimationFrame);
		}
	}
	async function ready() {
		if (before) await lookAsBefore();
		history.scrollRestoration = 'auto';
		root.dataset.ready = Math.round(performance.now());
		if (every) setTimeout(again, every);
	}
	if (before) {
		root.classList.add(...before.theme);
		history.replaceState(null, '');
	}

	if (!$('list')) { // left out
		ready();
		return;
	}

	const kinds = ['invalid', 'request', 'response', 'notification', 'batch', 'oversized', 'stderr', 'mark', 'body'];
	const dirs = ['c2a', 'a2c', 'err'];
	const origins = ['wire', 'withheld', 'injected', 'rewritten'];
	const failures = ['', 'error', 'tool', 'refused', 'unanswered', 'invalid', 'gap', 'exit'];
	const [untimed, redelivered, open, gap, silent, joins, failed] = [1, 2, 4, 8, 16, 32, 64];
	const slow = [silent, 128, 256, 512]; // as in dialect.Slow
	const stderr = 6;

	// unpack returns the text of a block.
	async function unpack(id) {
		const packed = atob($(id).textContent.replace(/-/g, '+').replace(/_/g, '/'));
		const bytes = Uint8Array.from(packed, c => c.charCodeAt(0));
		return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text();
	}

	const wrong = ['', 'error', 'tool failed', 'refused', 'no answer', 'no JSON-RPC', 'not recorded', 'died']; // what is red

	let t;           // the table of rows, see table.go
	let rows = 0;    // how many there are
	let tape, seq, at, pair, lineOf, spans, sorts; // by row
	const digit = (column, i) => column.charCodeAt(i) - 48;
	const is = (i, state) => (t.state[i] & state) !== 0;

	async function read() {
		t = JSON.parse(await unpack('rows'));
		t.fold = new Map(t.fold);
		t.blocks = t.blocks.map(b => b ?? []);
		rows = t.seq.length;
		tape = new Int32Array(rows);
		seq = new Float64Array(rows);
		at = new Float64Array(rows);
		pair = new Int32Array(rows).fill(-1); // a request's response, and the other way round
		lineOf = new Int32Array(rows);        // of its class
		spans = Int32Array.from({length: rows}, (_, i) => t.fold.get(i) ?? 1); // how many frames it represents
		const next = new Int32Array(t.blocks.length);
		for (let k = 0, i = 0; k < t.tapes.length; k++) {
			const first = i;
			for (let number = 0, time = 0; i < first + t.tapes[k].rows; i++) {
				tape[i] = k;
				seq[i] = number += t.seq[i];
				at[i] = time += t.at[i];
				if (t.class[i] !== '?') lineOf[i] = next[digit(t.class, i)]++;
				if (!t.asked[i]) continue;
				const request = find(k, number - t.asked[i], first, i);
				if (request < 0) continue;
				pair[i] = request;
				if (pair[request] < 0) pair[request] = i;
			}
		}
		const byRow = list => {
			const of = new Map();
			for (const e of list ?? []) of.set(e[0] ?? e.row, [...of.get(e[0] ?? e.row) ?? [], e]);
			return of;
		};
		[t.batch, t.tools, t.found] = [byRow(t.batch), byRow(t.tools), byRow(t.found)];
		sorts = Uint8Array.from({length: rows}, (_, i) => lineSort(i));
	}

	// find returns the row of a frame, or of the run that it is in; -1 if there is none.
	function find(k, number, lo = 0, hi = rows) {
		while (lo < hi) {
			const mid = (lo + hi) >> 1;
			if (tape[mid] < k || tape[mid] === k && seq[mid] <= number) lo = mid + 1;
			else hi = mid;
		}
		const i = lo - 1;
		return i >= 0 && tape[i] === k && number < seq[i] + (t.fold.get(i) ?? 1) ? i : -1;
	}

	// label returns the number of a row as links and commands have it.
	const label = i => t.runs === 1 && tape[i] === 0 ? `${seq[i]}` : `${tape[i] + 1}.${seq[i]}`;
	function rowOf(text) {
		const m = /^(?:(\d+)\.)?(\d+)$/.exec(text);
		return m ? find(m[1] ? m[1] - 1 : 0, Number(m[2])) : -1;
	}

	// The bytes of frames are unpacked when they are first asked for.
	const unpacked = new Map();
	function block(name) {
		if (!unpacked.has(name)) unpacked.set(name, unpack(name).then(text => text.split('\n')));
		return unpacked.get(name);
	}
	// bytes returns a frame: its text, and whether that is cut; null if the page does not have it.
	async function bytes(i) {
		if (t.class[i] === '?') return null;
		const c = digit(t.class, i);
		let n = lineOf[i], b = 0;
		for (; b < t.blocks[c].length && n >= t.blocks[c][b]; b++) n -= t.blocks[c][b];
		return b < t.blocks[c].length ? written(i, (await block(`bytes-${c}-${b}`))[n]) : null;
	}
	// written returns a frame from its line in a block.
	function written(i, line) {
		const kind = digit(t.kind, i);
		if (line[0] === '"') return {text: JSON.parse(line)};
		if (kind >= 1 && kind <= 4 && !line.startsWith('{"cut":')) return {text: line};
		const cut = JSON.parse(line);
		return cut.cut === undefined ? {text: line} : {text: cut.cut, cut: true};
	}
	// Once somebody goes to the filter, the text of all frames is unpacked, in slices between
	// which the page answers. A frame is searched as written and, after a NUL, without escapes:
	// as it is, and in lower case.
	let texts, exact, lower;
	let unpacking;
	const allBytes = () => unpacking ??= unpackAll();
	async function unpackAll() {
		const lines = await Promise.all(t.blocks.map(async (counts, c) => (await Promise.all(counts.map((_, b) => block(`bytes-${c}-${b}`)))).flat()));
		const all = new Array(rows).fill(null);
		exact = new Array(rows).fill('');
		lower = new Array(rows).fill('');
		for (let i = 0, began = performance.now(); i < rows; i++) {
			const line = t.class[i] === '?' ? undefined : lines[digit(t.class, i)][lineOf[i]];
			if (line === undefined) continue;
			const {text} = all[i] = written(i, line);
			exact[i] = digit(t.kind, i) !== stderr && text.includes('\\') ? text + '\0' + unescaped(text) : text;
			lower[i] = exact[i].toLowerCase().replaceAll('ſ', 's'); // as a regular expression without case has it
			if (i % 256 || performance.now() - began < 10) continue;
			await new Promise(r => setTimeout(r));
			began = performance.now();
		}
		texts = all;
	}

	// What follows is the language of package inspect/frames/filter, as far as rows carry it. A test
	// takes a row and returns no, perhaps (the bytes decide, and are not here) or yes.
	const no = 0, perhaps = 1, yes = 2;
	const sure = b => b ? yes : no;
	const blank = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
	const bare = new RegExp(`[^${blank}()|"\`]*`, 'y');
	const blanks = new RegExp(`[${blank}]*`, 'y');
	const field = /(`[^`]*(?:`|$)|\.[A-Za-z0-9_.*#-]+(?=:|[<>=~])|[A-Za-z][A-Za-z0-9_-]*(?=:|[<>=~]))(:?(?:>=|<=|[><=~])|:)?/y;
	const elsewhere = what => `${what} works in acptap inspect and in acptap report --filter, not in a page`;

	function parse(query) {
		let i = 0, depth = 0, needsBytes = false;
		const needles = []; // what text is searched for
		const sticky = re => {
			re.lastIndex = i;
			const m = re.exec(query);
			if (m) i += m[0].length;
			return m;
		};
		const peek = () => (sticky(blanks), query[i]);
		function or() {
			const list = [and()];
			while (peek() === '|') { i++; list.push(and()); }
			return list.length === 1 ? list[0] : row => {
				let v = no;
				for (const f of list) if ((v = Math.max(v, f(row))) === yes) break;
				return v;
			};
		}
		function and() {
			const list = [];
			for (let c; (c = peek()) !== undefined && c !== '|' && c !== ')';) list.push(not());
			if (!list.length) throw new Error('a term is missing');
			return list.length === 1 ? list[0] : row => {
				let v = yes;
				for (const f of list) if ((v = Math.min(v, f(row))) === no) break;
				return v;
			};
		}
		function not() {
			let odd = false;
			for (; peek() === '!'; i++) odd = !odd;
			const f = primary();
			return odd ? row => yes - f(row) : f;
		}
		function primary() {
			if (query[i] === undefined || query[i] === '|' || query[i] === ')') throw new Error('a term is missing');
			if (query[i] !== '(') return term();
			if (depth++ === 200) throw new Error('groups are nested too deeply');
			i++;
			const f = or();
			if (query[i++] !== ')') throw new Error('unmatched (');
			depth--;
			return f;
		}
		function term() {
			const m = sticky(field);
			const key = m?.[1] ?? 'text';
			let op = m ? m[2] ?? '' : ':', value, to, quoted = false;
			if (op.length > 1 && op[0] === ':') op = op.slice(1);
			if (key[0] === '.' || key[0] === '`') throw new Error(elsewhere('a path'));
			if (query[i] === '"') {
				const s = sticky(/"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"/y);
				if (!s) throw new Error('unterminated string');
				value = s[1].replace(/\\(["\\])/g, '$1');
				quoted = true;
			} else {
				value = sticky(bare)[0];
				if (m && value[0] === '!') throw new Error('quote a value that begins with !');
				if (value === '') throw new Error('a value is missing');
			}
			if (!Object.hasOwn(keys, key)) throw new Error(`${JSON.stringify(key)} is not a key`);
			const [ops, test] = keys[key];
			if (!ops.includes(op)) throw new Error(`${key} does not take ${op}`);
			if (!test) throw new Error(elsewhere(key + op));
			if (op === '~') throw new Error(elsewhere(`${key}~`));
			if (!quoted && op === ':' && ops === rangeOps && value.includes('..')) {
				const cut = value.indexOf('..');
				[value, to] = [value.slice(0, cut), value.slice(cut + 2)];
				if (!value || !to) throw new Error('a range has two ends, such as 3..9');
			}
			needsBytes ||= key === 'text';
			if (key === 'text' && op === ':') needles.push(value);
			return test(value, op, to);
		}
		if (peek() === undefined) return {test: () => yes, needles};
		const test = or();
		if (i < query.length) throw new Error('unmatched )');
		return {test, needsBytes, needles};
	}

	const wordOps = [':', '='], textOps = [':', '=', '~'], rangeOps = [':', '=', '>', '>=', '<', '<='];
	const words = (list, test) => [wordOps, value => {
		const n = list.indexOf(value);
		if (n < 0) throw new Error(`${JSON.stringify(value)} is none of ${list.filter(w => w).join(', ')}`);
		return test(n);
	}];
	const glob = v => new RegExp('^' + v.split('*').map(escape).join('.*') + '$', 's');
	function escape(s) { return s.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'); }
	const match = (loose, value, op) => op === '=' ? s => s === value : loose(value);
	const globs = v => (re => s => re.test(s))(glob(v));
	const prefix = v => s => s.startsWith(v);
	const contains = v => /\p{Lu}/u.test(v) ? s => s.includes(v) : (re => s => re.test(s))(new RegExp(escape(v), 'iu'));
	const fitting = fits => t.names.map(s => s !== '' && fits(s));
	const annotation = (column, place, loose) => [textOps, (value, op) => {
		const fits = fitting(match(loose, value, op));
		return i => sure(fits[t[column][i]] || t.batch.get(i)?.some(e => fits[e[place]]));
	}];
	const finding = fits => i => sure(t.found.get(i)?.some(fits));

	// A measure is a number as it is written, and what its last digit is worth.
	function number(word) {
		if (!/^\d+$/.test(word)) throw new Error(`${JSON.stringify(word)} is not a whole number`);
		return [Number(word), 1];
	}
	const sizes = {'': 1, B: 1, k: 1024, K: 1024, M: 2 ** 20, G: 2 ** 30, KiB: 1024, MiB: 2 ** 20, GiB: 2 ** 30, kB: 1e3, MB: 1e6, GB: 1e9};
	function size(word) {
		const m = /^(\d+\.?\d*|\.\d+)([BGKMik]*)$/.exec(word);
		if (!m || !Object.hasOwn(sizes, m[2])) throw new Error(`${JSON.stringify(word)} is not a size, such as 500, 64k or 2MB`);
		return [Math.floor(m[1] * sizes[m[2]]), 1];
	}
	const units = {ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9};
	const digits = (fraction, unit) => Math.max(1, Array.from(fraction).reduce(n => Math.floor(n / 10), unit));
	function duration(word) {
		let sum = 0, last = 1;
		const bad = () => new Error(`${JSON.stringify(word)} is not a duration, such as 250ms, 2.5s or 1m30s`);
		if (/^[+-]?0$/.test(word)) return [0, 1];
		if (!/^\+?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(word)) throw bad();
		for (const [, whole, fraction = '', unit] of word.matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
			sum += Number(whole) * units[unit];
			if (fraction) sum += Math.floor(Number(fraction) * (units[unit] / 10 ** fraction.length));
			last = digits(fraction, units[unit]);
		}
		return [sum, last];
	}
	function ofDay(word) {
		const m = /^(\d?\d):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(word);
		if (!m || m[1] > 23 || m[2] > 59 || m[3] > 59) throw new Error(`${JSON.stringify(word)} is not a time of day, such as 15:04:05`);
		return [(m[1] * 3600 + m[2] * 60 + Number(m[3])) * 1e9 + Number(((m[4] ?? '') + '000000000').slice(0, 9)), digits(m[4] ?? '', 1e9)];
	}
	function within(read, value, op, to) {
		const [v, unit] = read(value);
		if (to !== undefined) {
			const [end] = read(to);
			if (end < v) throw new Error('the range ends before it begins');
			return n => v <= n && n <= end;
		}
		switch (op) {
		case '>': return n => n > v;
		case '>=': return n => n >= v;
		case '<': return n => n < v;
		case '<=': return n => n <= v;
		}
		return n => v <= n && n < v + unit;
	}
	const range = (read, of) => [rangeOps, (value, op, to) => {
		const fits = within(read, value, op, to);
		return i => sure(fits(of(i)));
	}];
	const known = (column, i) => t[column][i] || NaN; // what is not known fits nothing
	function time(value, op, to) {
		if (/^\d{4}-/.test(value)) throw new Error(elsewhere('a time with a date'));
		if (!/^\d+:/.test(value)) {
			const fits = within(duration, value, op, to);
			return i => sure(!is(i, untimed) && fits(at[i]));
		}
		const fits = within(ofDay, value, op, to);
		const day = 86_400_000_000_000n;
		const start = t.tapes.map(k => k.start && Number((BigInt(k.start) + BigInt(k.zone ?? 0) * 1_000_000_000n) % day));
		return i => sure(!is(i, untimed) && start[tape[i]] && fits((start[tape[i]] + at[i]) % Number(day)));
	}
	function text(value, op) {
		const ascii = /^[\0-\x7f]*$/.test(value), any = ascii && value === value.toLowerCase();
		const fits = ascii ? i => (any ? lower : exact)[i].includes(value) : (f => i => f(exact[i]))(contains(value));
		return i => {
			const has = texts[i];
			if (op === '=') return has && !has.cut ? sure(has.text === value) : perhaps;
			if (has && fits(i)) return yes;
			return has && !has.cut && spans[i] === 1 ? no : perhaps;
		};
	}
	const escapes = {n: '\n', r: '\r', t: '\t', b: '\b', f: '\f'};
	const unescaped = s => s.replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, unit, c) => unit ? String.fromCharCode(parseInt(unit, 16)) : escapes[c] ?? c);

	const keys = {
		method: annotation('method', 1, globs),
		update: annotation('update', 2, globs),
		session: annotation('session', 3, prefix),
		kind: words(kinds, n => i => sure(digit(t.kind, i) === n)),
		dir: words([...dirs, 'client', 'agent', 'stderr'], n => i => sure(digit(t.dir, i) === n % 3)),
		origin: words(origins, n => i => sure(digit(t.origin, i) === n)),
		failure: [wordOps, value => {
			const n = failures.indexOf(value, 1);
			if (n < 0) throw new Error(`${JSON.stringify(value)} is none of ${failures.slice(1).join(', ')}`);
			return i => sure(digit(t.fail, i) === n);
		}],
		slow: words(['silent', 'tool', 'setup', 'hung'], n => i => sure(is(i, slow[n]))),
		is: words(['error', 'open', 'gap', 'failed', 'redelivered', 'finding', 'violation', 'warning', 'note'], n => [
			i => sure(is(i, failed)), i => sure(is(i, open)), i => sure(is(i, gap)),
			i => sure(digit(t.fail, i)), i => sure(is(i, redelivered)), finding(() => true),
			...['violation', 'warning', 'note'].map(s => finding(f => f.strength === s)),
		][n]),
		rule: [textOps, (value, op) => {
			const fits = match(globs, value, op);
			return finding(f => fits(f.rule) || fits(f.name));
		}],
		by: words(['client', 'agent'], n => finding(f => f.by === ['client', 'agent'][n])),
		server: [textOps, (value, op) => {
			const fits = match(globs, value, op);
			return i => sure(t.tapes[tape[i]].server && fits(t.tapes[tape[i]].server));
		}],
		tool: [textOps, (value, op) => {
			const id = fitting(match(prefix, value, op)), title = fitting(match(contains, value, op));
			return i => sure(id[t.tool[i]] || title[t.title[i]] || t.tools.get(i)?.some(e => id[e[1]] || title[e[2]]));
		}],
		turn: range(number, i => known('turn', i)),
		stream: range(number, i => known('stream', i)),
		latency: range(duration, i => known('took', i)),
		size: range(size, i => t.size[i]),
		seq: range(number, i => seq[i]),
		time: [rangeOps, time],
		text: [textOps, text],
		id: [textOps, null],
		stop: [wordOps, null],
		outcome: [wordOps, null],
		permission: [wordOps, null],
	};

	// What follows draws.
	const rowHeight = 26, tallest = 8_000_000;
	const list = $('list'), query = $('query'), panel = $('panel');
	let all = true, test = () => yes;   // the filter
	let heads = [], lengths = [];       // of what is listed: rows, and how many frames each stands for
	let needles = [];                   // what the filter looks for in text
	let selected = -1;                  // place in heads
	let side;                           // A or B: of two, the one that is listed
	const sideOf = i => t.tapes[tape[i]].side;

	function readable(ns) {
		const s = ns / 1e9;
		if (ns < 1e6) return `${Math.floor(ns / 1e3)} µs`;
		if (ns < 1e9) return `${Math.floor(ns / 1e6)} ms`;
		if (s < 59.95) return s.toFixed(s < 9.995 ? 2 : 1) + ' s';
		const m = Math.round(s);
		return (m >= 3600 ? `${Math.floor(m / 3600)}h` : '') + `${Math.floor(m / 60) % 60}m${m % 60}s`;
	}
	function byteSize(n) {
		if (n < 1000) return `${n} B`;
		for (const [unit, name] of [[1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB']]) {
			if (n < 999.5 * unit || unit === 1e9) return (n / unit).toFixed(n / unit < 9.95 ? 1 : 0) + ' ' + name;
		}
	}
	const grouped = n => n.toLocaleString('en');
	const clock = i => is(i, untimed) ? '?' : (at[i] / 1e9).toFixed(3);
	const arrow = i => kinds[digit(t.kind, i)] === 'mark' ? '─' : '→←⇠'[digit(t.dir, i)];
	// command returns what shows frames that have these numbers on the page. Of two runs, A
	// and B, each has numbers of its own.
	function command(numbers) {
		const [, k, rest] = /^(\d+)\.(\d.*)$/.exec(numbers) ?? [];
		const of = t.tapes[k - 1];
		if (of && (of.ref ? of.server : k > t.runs)) return `acptap show --frame ${rest} ${of.name}`;
		return `acptap show --frame ${of?.ref ? (of.prefix ?? '') + rest : numbers} ${of?.ref || t.ref || 'REF'}`;
	}

	// Lines are counted as everywhere: frames are what client and agent have sent.
	const lineNames = [['frame', 'frames'], ['frame of servers', 'frames of servers'], ['other line', 'other lines']];
	const ofServer = k => t.runs ? k >= t.runs : t.tapes[k].server !== undefined;
	const lineSort = i => digit(t.kind, i) === 7 || digit(t.dir, i) === 2 || digit(t.origin, i) > 1 || is(i, redelivered) ? 2 : ofServer(tape[i]) ? 1 : 0;
	function counted(shown, of) {
		const parts = lineNames.flatMap(([one, many], k) => {
			if (all ? !of[k] && k : !shown[k]) return [];
			return `${all ? '' : `${grouped(shown[k])} of `}${grouped(of[k])} ${of[k] === 1 ? one : many}`;
		});
		return parts.join(', ') || `none of ${grouped(of[0])} frames`;
	}

	// list what the filter wants, runs of chunks as one row if that is asked for.
	function relist() {
		const fold = $('fold').checked, was = heads[selected];
		heads = [];
		lengths = [];
		const shown = [0, 0, 0], of = [0, 0, 0];
		let before = -2, missing = 0;
		for (let i = 0; i < rows; i++) {
			if (side && sideOf(i) !== side) continue;
			const sort = sorts[i], n = spans[i];
			of[sort] += n;
			const v = test(i);
			if (v === perhaps) missing++;
			if (v !== yes) continue;
			shown[sort] += n;
			if (fold && before === i - 1 && is(i, joins)) lengths[lengths.length - 1]++;
			else heads.push(i), lengths.push(1);
			before = i;
		}
		selected = was === undefined ? -1 : place(was);
		let says = counted(shown, of);
		if (missing) says += `; ${grouped(missing)} could not be searched, their bytes are not in this page`;
		if (t.out) says += `; ${grouped(t.out)} more are on the tape`;
		$('count').textContent = says;
		list.setAttribute('aria-rowcount', heads.length);
		list.firstChild.style.height = Math.min(heads.length * rowHeight, tallest) + 'px';
		list.hidden = heads.length === 0;
		draw();
	}

	// turnTo lists the frames of A or B.
	function turnTo(name) {
		side = name;
		document.querySelector(`#side [value=${side}]`).checked = true;
		list.scrollTop = 0;
		relist();
	}

	// place returns where a row stands in the list, by itself or in a run; -1 if it does not.
	function place(row) {
		let lo = 0, hi = heads.length;
		while (lo < hi) {
			const mid = (lo + hi) >> 1;
			if (heads[mid] <= row) lo = mid + 1;
			else hi = mid;
		}
		return lo > 0 && row < heads[lo - 1] + lengths[lo - 1] ? lo - 1 : -1;
	}

	// The place of the scroll bar is scaled: browsers clip an element that is too tall.
	const travel = () => [heads.length * rowHeight - list.clientHeight, list.firstChild.offsetHeight - list.clientHeight];
	function draw() {
		const [real, bar] = travel();
		const top = bar > 0 ? list.scrollTop * (real / bar) : 0;
		const first = Math.max(0, Math.floor(top / rowHeight) - 3);
		const last = Math.min(heads.length, Math.ceil((top + list.clientHeight) / rowHeight) + 3);
		const body = list.firstChild.firstChild;
		body.replaceChildren(...Array.from({length: Math.max(0, last - first)}, (_, n) => drawRow(first + n)));
		highlight();
		body.style.transform = `translateY(${list.scrollTop - top + first * rowHeight}px)`;
		if (selected >= first && selected < last) list.setAttribute('aria-activedescendant', `row-${selected}`);
		else list.removeAttribute('aria-activedescendant');
	}
	function drawRow(n) {
		const i = heads[n], run = lengths[n] > 1 ? lengths[n] : t.fold.get(i) ?? 1;
		const cell = (className, text) => {
			const c = make('div', className, text);
			c.role = 'gridcell';
			return c;
		};
		let sum = t.sum[i];
		for (let k = i + 1; k < i + lengths[n] && sum.length < 300; k++) sum += t.sum[k];
		const fail = digit(t.fail, i), kind = digit(t.kind, i);
		const tail = [];
		if (fail) tail.push('✗ ' + wrong[fail]);
		if (slow.some(s => is(i, s))) tail.push('! slow');
		if (t.took[i]) tail.push(readable(t.took[i]));
		else if (is(i, open)) tail.push('waits');
		if (t.size[i] >= 10_000) tail.push(byteSize(t.size[i]));
		const row = make('div', 'row', cell('n', label(i)), cell('t', clock(i)), cell('d', ' ×+~'[digit(t.origin, i)].trim() + arrow(i)),
			cell('m', t.names[t.name[i]] + (run > 1 ? ` ×${run}` : '')), cell('s', sum.trimStart()), cell('l', tail.join(' · ')));
		row.children[3].classList.add(`h${t.hues[t.name[i]]}`);
		if (kind === 1) row.classList.add('request');
		if (fail) row.classList.add('failed');
		if (kind >= stderr) row.classList.add('aside');
		if (!t.name[i]) row.classList.add('nameless');
		if (t.found.has(i)) row.classList.add('marked');
		row.role = 'row';
		row.id = `row-${n}`;
		row.ariaSelected = n === selected;
		row.ariaRowIndex = n + 1;
		return row;
	}
	// highlight marks what the filter found, in the list and in the panel.
	function highlight() {
		if (!window.Highlight) return;
		const ranges = [];
		for (const within of needles.length ? [list, panel] : []) {
			const walk = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
			for (let text; (text = walk.nextNode());) for (const needle of needles) {
				const exact = /\p{Lu}/u.test(needle), of = exact ? text.data : text.data.toLowerCase(), what = exact ? needle : needle.toLowerCase();
				if (of.length !== text.data.length) continue;
				for (let at = of.indexOf(what); at >= 0 && ranges.length < 2000; at = of.indexOf(what, at + what.length)) {
					ranges.push(new StaticRange({startContainer: text, startOffset: at, endContainer: text, endOffset: at + what.length}));
				}
			}
		}
		CSS.highlights.set('found', new Highlight(...ranges));
	}
	function select(n) {
		selected = Math.max(0, Math.min(n, heads.length - 1));
		const [real, bar] = travel(), scale = bar > 0 ? real / bar : 1;
		const top = list.scrollTop * scale, y = selected * rowHeight;
		if (y < top) list.scrollTop = y / scale;
		else if (y + rowHeight > top + list.clientHeight) list.scrollTop = (y + rowHeight - list.clientHeight) / scale;
		draw();
	}

	// filter takes what is asked for, once the bytes are there if they are needed.
	let asked = 0;
	async function filter() {
		const mine = ++asked, problem = $('problem');
		let parsed;
		try {
			parsed = parse(query.value);
			problem.textContent = '';
			query.removeAttribute('aria-invalid');
		} catch (e) {
			problem.textContent = e.message;
			query.setAttribute('aria-invalid', 'true');
			return;
		}
		if (parsed.needsBytes && !texts) {
			list.ariaBusy = 'true';
			await allBytes();
		}
		if (mine !== asked) return;
		list.ariaBusy = 'false';
		({test, needles} = parsed);
		all = query.value.trim() === '';
		list.scrollTop = 0;
		relist();
	}

	// The panel shows one frame.
	let shown = -1, node; // row; what is chosen in it
	async function show(i, address = true) {
		shown = i;
		if (sideOf(i) !== side) turnTo(sideOf(i));
		if (address) history.replaceState(null, '', `#frame-${label(i)}`);
		const n = place(i);
		if (n >= 0) select(n);
		tint(i);
		root.classList.add('paneled');
		panel.hidden = false;
		const title = make('h2', 'mono', `#${label(i)} ${t.names[t.name[i]] || kinds[digit(t.kind, i)]}`);
		const close = button('×', hide);
		close.title = 'close (Esc)';
		close.ariaLabel = '× close';
		const bar = make('div', 'buttons', button('↑', () => step(-1)), button('↓', () => step(1)));
		if (pair[i] >= 0) bar.append(button(digit(t.kind, i) === 1 ? '% response' : '% request', () => show(pair[i])));
		const body = make('div', 'tree');
		body.tabIndex = 0;
		const line = make('div', 'path');
		const focused = panel.contains(document.activeElement) && document.activeElement.textContent;
		panel.replaceChildren(make('div', 'title', title, close), bar, facts(i), ...found(i), body, line);
		// Who was at a button is at the same one, or at that which leads back.
		if (focused) (Array.from(bar.children).find(b => b.textContent[0] === focused[0]) ?? body).focus({preventScroll: true});
		panel.scrollTop = 0;
		const frame = await bytes(i);
		if (shown !== i) return;
		const copy = (word, text) => bar.append(button(word, b => copied(b, text())));
		if (frame && !frame.cut) copy('copy frame', () => frame.text);
		copy('copy link', () => location.href.replace(/#.*/, '') + `#frame-${label(i)}`);
		copy('copy command', () => command(label(i)));
		node = undefined;
		if (!frame) body.append(make('p', 'soft', 'The bytes of this frame are not in this page: ', make('code', '', command(label(i)))));
		else if (frame.cut || digit(t.kind, i) < 1 || digit(t.kind, i) > 4) {
			body.append(make('pre', '', visible(frame.text)));
			if (frame.cut) body.append(make('p', 'soft', `This is the beginning of ${byteSize(t.size[i])}: `, make('code', '', command(label(i)))));
		} else body.append(...content(parsed(frame.text)));
		bar.append(button('expand all', () => expand(body)));
		highlight();
		body.addEventListener('toggle', highlight, true);
		const run = t.fold.get(i);
		if (run) body.append(make('p', 'soft', `The first of ${run} frames that follow each other: `, make('code', '', command(`${label(i)}..${seq[i] + run - 1}`))));
		body.addEventListener('click', e => {
			node = e.target.closest('[data-path]');
			if (!node) return;
			const path = node.dataset.path;
			line.replaceChildren(make('code', '', path), button('copy path', b => copied(b, path)), button('copy value', b => copied(b, values.get(node))));
		});
	}
	function hide() {
		if (panel.hidden) return;
		panel.hidden = true;
		shown = -1;
		root.classList.remove('paneled');
		tint(-1);
		history.replaceState(null, '', query.value ? '#q=' + encodeURIComponent(query.value) : location.pathname + location.search);
		list.focus({preventScroll: true});
	}
	const step = by => {
		if (!heads.length) return;
		const n = selected < 0 ? 0 : Math.max(0, Math.min(selected + by, heads.length - 1));
		if (panel.hidden) select(n);
		else show(heads[n]);
	};
	// tint marks what the story tells of a frame.
	function tint(i) {
		for (const e of document.querySelectorAll('.here')) e.classList.remove('here');
		if (i < 0) return;
		const numbers = new Set([label(i), told(i)?.id.slice('e-'.length) ?? label(i)]);
		for (const n of numbers) for (const e of document.querySelectorAll(`[data-frame="${n}"], [id="e-${n}"]`)) e.classList.add('here');
	}
	// told returns the item of the story that tells of a frame: by itself, with the chunks
	// before it, or with the tool call that it is about. A response has that of its request.
	function told(i) {
		let run = true;
		for (let j = i; j >= 0 && tape[j] === tape[i]; j--) {
			const item = (run || t.tool[i] && t.tool[j] === t.tool[i] && t.session[j] === t.session[i]) && $(`e-${label(j)}`);
			if (item) return item;
			run &&= is(j, joins);
		}
		return pair[i] >= 0 && pair[i] < i ? told(pair[i]) : null;
	}
	function facts(i) {
		const list = [{c2a: 'client to agent', a2c: 'agent to client', err: 'stderr'}[dirs[digit(t.dir, i)]], kinds[digit(t.kind, i)]];
		list.push(is(i, untimed) ? 'at an unknown time' : `at ${clock(i)} s`, byteSize(t.size[i]));
		if (t.took[i]) list.push(`after ${readable(t.took[i])}`);
		if (t.session[i]) list.push(`session ${visible(t.names[t.session[i]])}`);
		if (t.turn[i]) list.push(`turn ${t.turn[i]}`);
		if (digit(t.origin, i)) list.push(`${origins[digit(t.origin, i)]} by acptap`);
		if (is(i, redelivered)) list.push('sent again');
		if (digit(t.fail, i)) list.push(`failure: ${failures[digit(t.fail, i)]}`);
		if (side) list.push(side);
		if (t.tapes.length > 1) list.push(`tape ${t.tapes[tape[i]].name}`);
		return make('p', 'soft', list.join(' · '));
	}
	const found = i => (t.found.get(i) ?? []).map(f => make('p', f.strength === 'violation' ? 'bad' : 'warn', `${f.rule} ${f.name}: ${f.text}`));

	// parsed reads JSON, and keeps numbers as they are written.
	class Written { constructor(text) { this.text = text; } }
	const parsed = text => JSON.parse(text, (_, v, context) =>
		typeof v === 'number' && context?.source && String(v) !== context.source ? new Written(context.source) : v);
	// visible shows what would not be seen, or turn text around.
	const visible = text => text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
		c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
	const values = new WeakMap(); // of elements with a path
	const isTree = v => v !== null && typeof v === 'object' && !(v instanceof Written);
	const literal = v => v instanceof Written ? v.text : typeof v === 'string' && v.includes('\n') ? `"${v}"` : JSON.stringify(v); // text of several lines as it is
	const gjson = key => key.replace(/[.*?|#@\\!{}[\]()<>=%:,"']/g, '\\$&');
	const mostMembers = 2000;

	// content returns what a frame is about, and then the envelope around it.
	function content(frame) {
		let of = frame, path = '';
		for (const key of ['params', 'result', 'error', 'update']) {
			if (isTree(of) && !Array.isArray(of) && isTree(of[key]) && Object.keys(of[key]).length) [of, path] = [of[key], path ? `${path}.${key}` : key];
		}
		if (of === frame) return members(frame, '', 0);
		const envelope = make('details', 'envelope', make('summary', 'soft', `whole frame (${Object.keys(frame).join(', ')})`));
		envelope.addEventListener('toggle', () => envelope.childElementCount === 1 && envelope.append(make('div', 'inside', ...members(frame, '', 0))));
		return [make('p', 'soft', path), ...members(of, path, 0), envelope];
	}
	// expand opens all of a tree, up to what a browser draws at once.
	function expand(tree) {
		for (let n = 0, next; n < 3000 && (next = tree.querySelector('details:not([open], .envelope)')); n++) {
			next.fill?.();
			next.open = true;
		}
	}

	// members returns what is in a value, those of a member when it is opened.
	function members(value, path, depth) {
		if (!isTree(value)) return [leaf('', value, path || '@this')];
		const entries = Object.entries(value).sort(([a], [b]) => (a === '_meta') - (b === '_meta'));
		const list = entries.slice(0, mostMembers).map(([key, v]) => {
			const at = path ? `${path}.${gjson(key)}` : gjson(key);
			const name = Array.isArray(value) ? key : visible(key);
			if (!isTree(v)) return leaf(name, v, at);
			const n = Object.keys(v).length;
			const of = make('details', '', mark(make('summary', '', make('span', 'member', name), make('span', 'soft', Array.isArray(v) ? ` [${n}]` : ` {${n}}`)), at, v));
			const fill = () => of.childElementCount === 1 && of.append(make('div', 'inside', ...members(v, at, depth + 1)));
			of.fill = fill;
			of.addEventListener('toggle', () => of.open && fill());
			if (depth < 3 && n <= 100) {
				fill();
				of.open = true;
			}
			return of;
		});
		if (entries.length > mostMembers) list.push(make('p', 'soft', `and ${grouped(entries.length - mostMembers)} more`));
		return list;
	}
	function mark(e, path, value) {
		e.dataset.path = path;
		values.set(e, typeof value === 'string' ? value : JSON.stringify(value, (_, v) => v instanceof Written && JSON.rawJSON ? JSON.rawJSON(v.text) : v instanceof Written ? v.text : v));
		return e;
	}
	function leaf(name, value, path) {
		const b = button('', () => {});
		b.className = 'leaf';
		b.append(make('span', 'member', name), name ? ' ' : '', make('span', typeof value, visible(literal(value))));
		return mark(b, path, value);
	}

	async function copied(b, text) {
		let done = false;
		try {
			await navigator.clipboard.writeText(text);
			done = true;
		} catch {
			const area = make('textarea', 'skip');
			area.value = text;
			document.body.append(area);
			area.select();
			done = document.execCommand('copy');
			area.remove();
			b.focus();
		}
		b.dataset.word ??= b.textContent;
		b.textContent = done ? 'copied' : 'failed';
		setTimeout(() => { b.textContent = b.dataset.word; }, 1200);
	}

	// follow goes where the address says.
	async function follow() {
		const hash = decodeURIComponent(location.hash.slice(1));
		if (hash.startsWith('q=')) {
			query.value = hash.slice(2);
			await filter();
			$('frames').scrollIntoView();
			return;
		}
		const m = /^(frame|e)-([\d.]+)$/.exec(hash);
		const target = $(hash);
		for (let e = target; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
		target?.scrollIntoView({block: m ? 'center' : 'start'});
		if (!m) return;
		const i = rowOf(m[2]);
		if (i >= 0) await show(i, false);
		if (m[1] === 'e') return;
		const item = i >= 0 && told(i);
		for (let e = item; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
		if (i < 0) $('problem').textContent = `Frame ${m[2]} is not in this page: ${command(m[2])}`;
		(item || $('frames')).scrollIntoView({block: 'center'});
	}

	const turnOf = i => `${tape[i]} ${t.session[i]} ${t.turn[i]}`;
	const press = {
		j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
		g: () => step(-Infinity), G: () => step(Infinity), Home: () => step(-Infinity), End: () => step(Infinity),
		PageDown: () => step(Math.floor(list.clientHeight / rowHeight)), PageUp: () => step(-Math.floor(list.clientHeight / rowHeight)),
		Enter: () => heads[selected] !== undefined && show(heads[selected]),
		'%': () => {
			const other = pair[heads[selected]] ?? -1;
			if (other < 0) return;
			if (panel.hidden) select(place(other));
			else show(other);
		},
		'[': () => toTurn(-1), ']': () => toTurn(1),
		z: () => $('fold').click(),
		y: () => [...panel.querySelectorAll('button')].find(b => b.textContent === 'copy frame')?.click(),
	};
	// toTurn selects where another turn begins.
	function toTurn(by) {
		const now = selected < 0 ? '' : turnOf(heads[selected]);
		for (let n = Math.max(selected, 0) + by; n >= 0 && n < heads.length; n += by) {
			const i = heads[n];
			if (t.turn[i] && turnOf(i) !== now && (n === 0 || turnOf(heads[n - 1]) !== turnOf(i))) return step(n - selected);
		}
	}
	function keyed(e) {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		if (e.key === 'Escape') {
			if (!$('keys').open) e.target === query ? list.focus({preventScroll: true}) : hide();
			return;
		}
		if (e.target.matches('input, textarea, select')) {
			if (e.target === query && e.key === 'Enter') list.focus({preventScroll: true});
			return;
		}
		const inList = e.target === list;
		let act = e.key === '/' ? () => (query.focus(), query.select()) : e.key === '?' ? () => $('keys').showModal() : undefined;
		if (inList || panel.contains(e.target) && e.key.length === 1) act ??= Object.hasOwn(press, e.key) ? press[e.key] : undefined;
		if (!act || $('keys').open) return;
		e.preventDefault();
		act();
	}

	async function start() {
		await read();
		const body = make('div', 'window');
		body.role = 'rowgroup';
		list.append(make('div', '', body));
		list.firstChild.role = 'presentation';
		$('tools').hidden = false;
		$('fold').checked = before?.fold ?? true;
		side = t.tapes[0].side;
		relist();
		let waiting = false;
		list.addEventListener('scroll', () => {
			if (waiting) return;
			waiting = true;
			requestAnimationFrame(() => { waiting = false; draw(); });
		});
		list.addEventListener('click', e => {
			const row = e.target.closest('.row');
			if (row) show(heads[Number(row.id.slice(4))]);
		});
		query.addEventListener('focus', allBytes, {once: true});
		query.addEventListener('input', () => {
			history.replaceState(null, '', query.value ? '#q=' + encodeURIComponent(query.value) : location.pathname + location.search);
			filter();
		});
		$('fold').addEventListener('change', relist);
		$('side')?.addEventListener('change', e => turnTo(e.target.value));
		new ResizeObserver(draw).observe(list);
		document.addEventListener('keydown', keyed);
		addEventListener('hashchange', follow);
		if (location.hash) await follow();
	}
	start().then(ready, e => {
		root.dataset.error = e.message;
		$('problem').textContent = `The list of frames cannot be read here: ${e.message}. ${t ? '' : 'It takes a browser of 2023 or later.'}`;
	});
})();
