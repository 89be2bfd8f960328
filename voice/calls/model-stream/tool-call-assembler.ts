/**
 * Puts tool calls together from their fragments. Servers number them differently: each with its own index, all with 0, or not at all; they repeat the
 * name or the id with each fragment, leave the id out, or send one call twice. Nothing is guessed: arguments are what came, in the order in which it came.
 */
import { canonicalJson, sha256 } from '../../../platform/canonical-json.ts';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import { argumentsProblem, JsonExtent, type ArgumentsProblem } from './call-arguments.ts';

export interface ModelCall {
  /** The server's; made up, and the same for the same stream and seed, where it has none or has it already. */
  readonly id: string;
  readonly name: string;
  /** As the model wrote them. */
  readonly arguments: string;
  /** Absent where the arguments are a JSON object: only then the call may run. */
  readonly problem?: ArgumentsProblem;
  /** What else the server says of the call, and wants to see again with its result. */
  readonly extra?: JsonObject;
}

interface Draft {
  id: string | undefined;
  readonly index: number | undefined;
  name: string;
  arguments: string;
  readonly extent: JsonExtent;
  extra: JsonObject;
}

interface Fragment {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly name: string;
  readonly arguments: string;
  readonly extra: JsonObject;
}

export class ToolCallAssembler {
  readonly #idSeed: string;
  readonly #usedIds: Set<string>;
  #drafts: Draft[] = [];
  readonly #taken = new Set<string>();
  #length = 0;

  constructor({ idSeed, usedIds }: { readonly idSeed: string; readonly usedIds: ReadonlySet<string> }) {
    this.#idSeed = idSeed;
    this.#usedIds = new Set(usedIds);
  }

  /** Whether a call has begun. */
  get begun(): boolean {
    return this.#drafts.length > 0 || this.#taken.size > 0;
  }

  /** Characters of all arguments. */
  get length(): number {
    return this.#length;
  }

  /** @param calls `tool_calls` of a delta or a message. @returns the names and arguments in it */
  add(calls: unknown): string {
    return (Array.isArray(calls) ? calls : [calls])
      .filter(isObject)
      .map((call) => this.#append(fragmentOf(call)))
      .join('');
  }

  /** The calls since the last time; those without a name are none. */
  take(): readonly ModelCall[] {
    const drafts = this.#drafts.filter(({ name }) => name !== '');
    this.#drafts = [];
    return drafts.flatMap((draft) => {
      // One call that is sent twice has its id, name and arguments.
      const key = JSON.stringify([draft.id, draft.name, draft.arguments.trim()]);
      if (draft.id !== undefined && this.#taken.has(key)) return [];
      this.#taken.add(key);
      return this.#callOf(draft);
    });
  }

  #append({ id, index, name, arguments: text, extra }: Fragment): string {
    let draft = this.#draftOf({ id, index, name, text });
    if (draft === undefined) {
      draft = { id, index, name: '', arguments: '', extent: new JsonExtent(), extra: {} };
      this.#drafts.push(draft);
    }
    const named = draft.name === '' ? name : '';
    draft.id ??= id;
    draft.name ||= name;
    draft.arguments += text;
    draft.extent.push(text);
    draft.extra = { ...draft.extra, ...extra };
    this.#length += text.length;
    return named + text;
  }

  /** @returns undefined where the fragment begins a call */
  #draftOf({ id, index, name, text }: Pick<Fragment, 'id' | 'index' | 'name'> & { readonly text: string }): Draft | undefined {
    const sameId = id === undefined ? undefined : this.#drafts.findLast((draft) => draft.id === id);
    const sameIndex = index === undefined ? this.#drafts.at(-1) : this.#drafts.findLast((draft) => draft.index === index);
    // Another id is another call, unless it is the first one of this, or stands at a piece of its arguments.
    const draft = sameId ?? (id === undefined || sameIndex?.id === undefined || name === '' ? sameIndex : undefined);
    if (draft === undefined || name === '' || draft.name === '') return draft;
    const again = draft.extent.closed && text.trim() !== '';
    return name === draft.name && !again ? draft : undefined;
  }

  #callOf({ id: given, name, arguments: text, extra }: Draft): ModelCall {
    const problem = argumentsProblem(text);
    const id = given === undefined || this.#usedIds.has(given) ? this.#newId() : given;
    this.#usedIds.add(id);
    return {
      id,
      name,
      arguments: text.trim() === '' ? '{}' : text,
      ...(problem !== undefined && { problem }),
      ...(Object.keys(extra).length > 0 && { extra }),
    };
  }

  #newId(): string {
    return `call_${sha256(`${this.#idSeed} ${this.#usedIds.size}`).slice(0, 24)}`;
  }
}

function fragmentOf({ id, index, type: _type, function: called, ...extra }: JsonObject): Fragment {
  const { name, arguments: args } = isObject(called) ? called : {};
  return {
    id: typeof id === 'number' ? String(id) : typeof id === 'string' && id !== '' ? id : undefined,
    index: typeof index === 'number' ? index : undefined,
    name: typeof name === 'string' ? name : '',
    arguments: typeof args === 'string' ? args : isObject(args) ? canonicalJson(args) : '',
    extra: Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== null)),
  };
}
