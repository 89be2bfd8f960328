/**
 * Puts tool calls together from their fragments. Servers number them differently: each with its own index, all with 0, or not at all; they repeat the
 * name or the id with each fragment, leave the id out, or send one call twice. Nothing is guessed: arguments are what came, in the order in which it came.
 */
import { canonicalJson, sha256 } from '../../platform/canonical-json.ts';
import { isObject, parseJson, type JsonObject } from '../../platform/json.ts';
import { argumentsProblem, JsonExtent, type ArgumentsProblem } from './call-arguments.ts';

export interface ModelCall {
  /** The server's id. Where there is none, or it is used already, a made-up one, the same for the same stream and seed. */
  readonly id: string;
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
  /** Absent where the arguments are a JSON object: only then the call may run. */
  readonly problem?: ArgumentsProblem;
  /** Data on the call that the server wants to see again with its result. */
  readonly extra?: JsonObject;
}

interface Draft {
  id: string | undefined;
  name: string;
  arguments: string;
  readonly extent: JsonExtent;
  extra: JsonObject;
}

interface Fragment {
  readonly id: string | undefined;
  readonly index: string | undefined;
  readonly name: string;
  readonly arguments: string;
  readonly extra: JsonObject;
}

export class ToolCallAssembler {
  readonly #idSeed: string;
  readonly #usedIds: Set<string>;
  readonly #drafts: Draft[] = [];
  /** The last call with an id, and the one to which the last fragment with an index belongs. */
  readonly #byId = new Map<string, Draft>();
  readonly #byIndex = new Map<string, Draft>();
  #length = 0;

  constructor({ idSeed, usedIds }: { readonly idSeed: string; readonly usedIds: ReadonlySet<string> }) {
    this.#idSeed = idSeed;
    this.#usedIds = new Set(usedIds);
  }

  get begun(): boolean {
    return this.#drafts.some(({ name }) => name !== '');
  }

  /** Number of characters of all arguments. */
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

  /** Call it once, when no more calls come: those without a name are none. */
  take(): readonly ModelCall[] {
    const sent = new Set<string>();
    return this.#drafts.flatMap((draft) => {
      if (draft.name === '') return [];
      // One call that is sent twice has its id, name and arguments.
      const key = canonicalJson([draft.id, draft.name, parseJson(draft.arguments, draft.arguments)]);
      if (draft.id !== undefined && sent.has(key)) return [];
      sent.add(key);
      return this.#callOf(draft);
    });
  }

  #append({ id, index, name, arguments: text, extra }: Fragment): string {
    let draft = this.#draftOf({ id, index, name, text });
    if (draft === undefined) {
      draft = { id, name: '', arguments: '', extent: new JsonExtent(), extra: {} };
      this.#drafts.push(draft);
    }
    if (index !== undefined) this.#byIndex.set(index, draft);
    const named = draft.name === '' ? name : '';
    draft.id ??= id;
    if (draft.id !== undefined) this.#byId.set(draft.id, draft);
    draft.name ||= name;
    draft.arguments += text;
    draft.extent.push(text);
    draft.extra = { ...draft.extra, ...extra };
    this.#length += text.length;
    return named + text;
  }

  #draftOf({ id, index, name, text }: Pick<Fragment, 'id' | 'index' | 'name'> & { readonly text: string }): Draft | undefined {
    const last = this.#drafts.at(-1);
    const sameId = id === undefined ? undefined : this.#byId.get(id);
    const sameIndex = index === undefined ? last : this.#byIndex.get(index);
    // Another id is another call, unless it is the first one of this, or stands at a piece of its arguments.
    const draft =
      sameId ?? (id === undefined || sameIndex?.id === undefined || (name === '' && !sameIndex.extent.closed) ? sameIndex : undefined);
    // DeepSeek sends the beginning of a call with another index than its rest.
    if (draft === undefined && id === undefined && name === '' && last?.extent.closed === false) return last;
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
    index: typeof index === 'number' || typeof index === 'string' ? String(index) : undefined,
    name: typeof name === 'string' ? name : '',
    arguments: typeof args === 'string' ? args : isNothing(args) ? '' : canonicalJson(args),
    extra: Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== null)),
  };
}

/** Servers that send arguments as an object begin with an empty one. */
const isNothing = (args: unknown): boolean => (args ?? undefined) === undefined || (isObject(args) && Object.keys(args).length === 0);
