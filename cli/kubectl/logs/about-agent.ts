/** Decides which lines are about an agent. Pure but for what it has learned: which calls are the agent's. */
import type { LogFields, LogLine } from './line.ts';

export interface AboutAgentOptions {
  readonly namespace: string;
  readonly name: string;
  /** Absent where the agent is gone, or may not be read. */
  readonly uid?: string | undefined;
  /** Restricts the lines to this call, of any agent. */
  readonly callId?: string | undefined;
}

const agentFields: ReadonlySet<string> = new Set([
  'agent',
  'agentName',
  'agent_name',
  'ai_agent_id',
  'agentId',
  'parley.agent',
  'parley.agent.name',
]);
const organizationFields: ReadonlySet<string> = new Set(['org', 'organization', 'namespace', 'parley.org', 'parley.organization']);
const callFields: ReadonlySet<string> = new Set(['callId', 'call_id', 'parley.call.id', 'parley.call']);
const CALL_ROOM = /^call-([0-9a-z-]{8,})$/i;

/** Most lines that are kept of calls that are not known to be anybody's yet. */
const MAX_HELD = 20_000;
/** Depth to which a line is looked into: `err` and what hangs on it are no identities. */
const MAX_DEPTH = 3;

export class AboutAgent {
  readonly #options: AboutAgentOptions;
  readonly #calls = new Set<string>();
  readonly #held = new Map<string, LogLine[]>();
  #heldCount = 0;

  constructor(options: AboutAgentOptions) {
    this.#options = options;
    if (options.callId !== undefined) this.#calls.add(options.callId);
  }

  /** Returns the lines that are now known to be about the agent: this one, and earlier ones of a call that turns out to be its own. */
  take(line: LogLine): readonly LogLine[] {
    const found = look(line.fields);
    const { callId } = this.#options;
    if (callId !== undefined) return found.calls.has(callId) ? [line] : [];
    const { namespace } = this.#options;
    if (found.organizations.size > 0 && !found.organizations.has(namespace) && !found.values.has(this.#options.uid ?? '\0')) return [];
    if (this.#names(line.fields, found)) {
      const released = [...found.calls].flatMap((call) => this.#learn(call));
      return [...released, line];
    }
    if (found.agents.size > 0) return []; // The call is another agent's.
    if ([...found.calls].some((call) => this.#calls.has(call))) return [line];
    for (const call of found.calls) this.#hold(call, line);
    return [];
  }

  #names(fields: LogFields, found: Found): boolean {
    const { namespace, name, uid } = this.#options;
    if (uid !== undefined && found.values.has(uid)) return true;
    const isAgent = fields['kind'] === 'Agent' || fields['controller'] === 'agent' || fields['controller'] === 'Agent';
    if (isAgent && (found.values.has(`${namespace}/${name}`) || (fields['name'] === name && found.organizations.has(namespace))))
      return true;
    return found.agents.has(name) || found.agents.has(`${namespace}/${name}`);
  }

  #learn(call: string): readonly LogLine[] {
    this.#calls.add(call);
    const held = this.#held.get(call) ?? [];
    this.#held.delete(call);
    this.#heldCount -= held.length;
    return held;
  }

  #hold(call: string, line: LogLine): void {
    const held = this.#held.get(call);
    if (held === undefined) this.#held.set(call, [line]);
    else held.push(line);
    this.#heldCount += 1;
    while (this.#heldCount > MAX_HELD) {
      const [oldest] = this.#held.keys();
      if (oldest === undefined) return;
      this.#heldCount -= this.#held.get(oldest)?.length ?? 0;
      this.#held.delete(oldest);
    }
  }
}

interface Found {
  readonly agents: ReadonlySet<string>;
  readonly organizations: ReadonlySet<string>;
  readonly calls: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
}

function look(fields: LogFields): Found {
  const found = { agents: new Set<string>(), organizations: new Set<string>(), calls: new Set<string>(), values: new Set<string>() };
  const walk = (value: LogFields, depth: number): void => {
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string') {
        found.values.add(inner);
        if (agentFields.has(key)) found.agents.add(inner);
        if (organizationFields.has(key)) found.organizations.add(inner);
        if (callFields.has(key)) found.calls.add(inner);
        const [, room] = key === 'room' ? (CALL_ROOM.exec(inner) ?? []) : [];
        if (room !== undefined) found.calls.add(`call_${room}`);
      } else if (typeof inner === 'object' && inner !== null && depth < MAX_DEPTH) {
        walk(inner as LogFields, depth + 1);
      }
    }
  };
  walk(fields, 1);
  return found;
}
