/** Finds where a test depends on how fast the machine is: see CONTRIBUTING.md, Layers. */

const RULES: readonly { readonly pattern: RegExp; readonly problem: string }[] = [
  {
    pattern: /\bperformance\.(?:now|mark|measure|eventLoopUtilization)\b|\bmonitorEventLoopDelay\b/g,
    problem: 'measures time: count what is done, or move a FakeClock',
  },
  { pattern: /\bprocess\.(?:hrtime|uptime)\b/g, problem: 'measures time: count what is done, or move a FakeClock' },
  {
    pattern: /\bprocess\.(?:cpuUsage|threadCpuUsage|resourceUsage|memoryUsage)\b/g,
    problem: 'measures the machine: count what is done, or compare in test/bench',
  },
  {
    pattern: /import \{[^}]*\b(?:setTimeout|scheduler)\b[^}]*\} from '(?:node:)?timers\/promises'/g,
    problem: 'sleeps: wait for a condition (`eventually`), or move a FakeClock',
  },
  // A turn of the event loop is no sleep.
  { pattern: /(?<!['"\w])setTimeout\((?!\w+\))/g, problem: 'waits for time to pass: hold it until what must come before has come' },
  {
    pattern: /\bsleep\((?:systemClock|awakeClock)\b|\bpg_sleep\b/g,
    problem: 'sleeps: wait for a condition (`eventually`), or move a FakeClock',
  },
];

const COMPARES = /\.(?:toBeLessThan|toBeGreaterThan|toBeCloseTo)(?:OrEqual)?\(/;
const NOW = /\bDate\.now\(\)|\bnew Date\(\)/;

/** @returns `line: problem`, in the order of the lines */
export function timeProblems(source: string): readonly string[] {
  const text = source.replaceAll(/^ *(?:\/\/|\/?\*).*$/gm, '');
  const found = RULES.flatMap(({ pattern, problem }) => [...text.matchAll(pattern)].map(({ index }) => ({ index, problem })));
  // A test may use the present time as data; to assert that something took no longer is a measurement.
  const names = [...text.matchAll(/\b(?:const|let) (\w+)(?::[^=;]*)? = ([^;]*);/g)].flatMap(([, name, value = '']) =>
    NOW.test(value) && !/=>|FakeClock/.test(value) ? [name] : [],
  );
  const isTime = new RegExp([NOW.source, ...names.map((name) => String.raw`\b${name}\b`)].join('|'));
  for (const { index, 0: assertion } of text.matchAll(/\bexpect\([^;]*;/g))
    if ((COMPARES.test(assertion) && isTime.test(assertion)) || NOW.test(assertion))
      found.push({ index, problem: 'compares with the present time: use a FakeClock, or a time that came with the answer' });
  return found.toSorted((a, b) => a.index - b.index).map(({ index, problem }) => `${text.slice(0, index).split('\n').length}: ${problem}`);
}
