/** The parts of a configuration, by which a rollback remembers what it took back. Pure. */

/** SHA-256 of each part; the name of the agent and the versions of Secrets are no parts. */
export interface RevisionParts {
  /** Hash of the agent itself, with its prompt and knowledge base. */
  readonly agent?: string | undefined;
  /** Hashes by name of the Tool; null, in a difference, for one that is not there. */
  readonly tools: Readonly<Record<string, string | null>>;
}

/**
 * Returns the parts that `to` has and `from` has not. Where the agent itself differs its tools don't count: people made that change, and
 * tools come and go by themselves.
 * @returns null where one of them is unknown
 */
export function changedParts(from: RevisionParts | undefined, to: RevisionParts | undefined): RevisionParts | null {
  if (from === undefined || to === undefined) return null;
  if (from.agent !== to.agent) return { agent: to.agent, tools: {} };
  const names = new Set([...Object.keys(from.tools), ...Object.keys(to.tools)]);
  const changed = [...names].filter((name) => (from.tools[name] ?? null) !== (to.tools[name] ?? null));
  return { tools: Object.fromEntries(changed.map((name) => [name, to.tools[name] ?? null])) };
}

/** Tells whether a configuration has any part of a difference. */
export function hasAnyOf(parts: RevisionParts, changed: RevisionParts | null): boolean {
  if (changed === null) return false;
  if (changed.agent !== undefined) return parts.agent === changed.agent;
  return Object.entries(changed.tools).some(([name, digest]) => (parts.tools[name] ?? null) === digest);
}
