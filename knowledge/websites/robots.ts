/**
 * Reads robots.txt by RFC 9309, for one crawler. It is read line by line and matched in time that grows with the length of the file and no
 * faster, because its author may mean harm (docs/adr/0013-own-robots-txt.md).
 */

export interface Robots {
  /** @param path path and query of an address, in the form that `URL` writes */
  allows(path: string): boolean;
  /** Milliseconds between two requests; 0 where none are asked for. */
  readonly crawlDelayMs: number;
}

/** Bytes of a robots.txt that are read: the least that the RFC asks for. */
export const ROBOTS_MAX_BYTES = 500 * 1024;

interface Rule {
  readonly allow: boolean;
  readonly length: number;
  /** The texts of the pattern between its `*`s. */
  readonly parts: readonly string[];
  /** True if it ends with `$`: nothing may follow. */
  readonly whole: boolean;
}

interface Group {
  readonly rules: Rule[];
  crawlDelayMs: number;
}

/** @param agent the crawler's product token, e.g. `Parley`: its own group holds, else that of `*` */
export function parseRobots(text: string, agent: string): Robots {
  const own: Group = { rules: [], crawlDelayMs: 0 };
  const everyone: Group = { rules: [], crawlDelayMs: 0 };
  let ownFound = false;
  const current = new Set<Group>();
  let naming = false;
  for (const line of text.replace(/^\u{feff}/u, '').split(/[\r\n]+/)) {
    const colon = line.indexOf(':');
    const comment = line.indexOf('#');
    if (colon < 0 || (comment >= 0 && comment < colon)) continue;
    const key = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1, comment < 0 ? undefined : comment).trim();
    if (key === 'user-agent') {
      // Several names in a row begin one group together.
      if (!naming) current.clear();
      naming = true;
      const token = /^[a-z_-]+/i.exec(value)?.[0].toLowerCase();
      if (value === '*') current.add(everyone);
      if (token === agent.toLowerCase()) {
        current.add(own);
        ownFound = true;
      }
    } else if (key === 'allow' || key === 'disallow') {
      naming = false;
      // An empty path is no rule; `Disallow:` alone allows everything, as no rule does.
      if (value !== '') for (const group of current) group.rules.push(ruleOf(value, key === 'allow'));
    } else if (key === 'crawl-delay') {
      naming = false;
      const seconds = Number(value);
      if (value !== '' && seconds > 0) for (const group of current) group.crawlDelayMs = seconds * 1000;
    }
  }
  const group = ownFound ? own : everyone;
  return { allows: (path) => allows(group.rules, path), crawlDelayMs: group.crawlDelayMs };
}

function ruleOf(pattern: string, allow: boolean): Rule {
  const whole = pattern.endsWith('$');
  const parts = (whole ? pattern.slice(0, -1) : pattern).split('*').map((part) => literal(normalise(part)));
  return { allow, length: pattern.length, parts, whole };
}

/** Decides by the longest pattern; of two that are equally long, by the one that allows. */
function allows(rules: readonly Rule[], path: string): boolean {
  const normal = literal(normalise(path));
  let best: Rule | undefined;
  for (const rule of rules) {
    const better = best === undefined || rule.length > best.length || (rule.length === best.length && rule.allow && !best.allow);
    if (better && matches(rule, normal)) best = rule;
  }
  return best?.allow ?? true;
}

/** Matches each part at the first place where it fits: if any places fit, these do. */
function matches({ parts, whole }: Rule, path: string): boolean {
  const [first = '', ...rest] = parts;
  if (!path.startsWith(first)) return false;
  if (rest.length === 0) return !whole || path.length === first.length;
  const last = whole ? (rest.pop() ?? '') : '';
  let at = first.length;
  for (const part of rest) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.length - at >= last.length && path.endsWith(last);
}

/** Escapes a literal `*` or `$`, the form in which they are compared. */
const literal = (text: string): string => text.replaceAll('*', '%2A').replaceAll('$', '%24');

const UNRESERVED = /[A-Za-z0-9._~-]/;

/** Writes each octet one way: those that need no percent sign have none, the others have upper-case digits. */
function normalise(path: string): string {
  return path
    .replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
      const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
      return UNRESERVED.test(char) ? char : escape.toUpperCase();
    })
    .replaceAll(/[^\u{21}-\u{7e}]+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}
