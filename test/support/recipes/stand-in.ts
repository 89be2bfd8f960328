/**
 * Plays the models of a recipe: the agent's, which follows a sentence of the prompt only while the prompt has it, the judge, the simulated
 * user, and the analysis after the call.
 */
import { isObject } from '../../../platform/json.ts';
import type { ChatHandler, ChatScript, ReceivedChat } from '../provider-server.ts';

type Act = string | ChatScript;
type Decided = Act | ((request: ReceivedChat) => Act);

interface Cue {
  /** Matches what came last: the user's words, or `find_tables {"free":[]}` for the result of a tool. */
  readonly on: RegExp;
  /** Matches the user's last words, where `on` is about a tool. */
  readonly asked?: RegExp;
  /** Sentences of the prompt, or of a function's description, by which the model acts so. */
  readonly told?: readonly string[];
  readonly does: Decided;
  /** What a model does that was not told. */
  readonly untold?: Decided;
}

export interface RecipeScript {
  /** The first cue that fits decides. */
  readonly cues: readonly Cue[];
  /** Decides each statement by what the agent said, line by line. */
  readonly judgements: Readonly<Record<string, (said: string) => boolean>>;
  /** Words of the simulated user, by what the agent said last. */
  readonly user?: readonly { readonly on: RegExp; readonly says: string; readonly done?: true }[];
  readonly analysis: (transcript: string) => Readonly<Record<string, unknown>>;
}

export interface StandIn {
  readonly chat: ChatHandler;
  /** Sentences that were looked for so far. */
  readonly told: ReadonlySet<string>;
}

export const call = (name: string, args: Readonly<Record<string, unknown>> = {}): ChatScript => ({
  toolCalls: [{ name, arguments: args }],
});
export const sayAnd = (text: string, name: string, args: Readonly<Record<string, unknown>> = {}): ChatScript => ({
  text,
  ...call(name, args),
});

export function standIn(script: RecipeScript): StandIn {
  const told = new Set<string>();
  const chat: ChatHandler = (request) => {
    const { system, lastUser } = request;
    if (system.startsWith('You check')) return inOneToken(judged(script, lastUser));
    if (system.startsWith('You play')) return inOneToken(played(script, lastUser));
    if (system.startsWith('You are given the transcript')) return inOneToken(JSON.stringify(script.analysis(lastUser)));
    const last = lastOf(request);
    const cue = script.cues.find(({ on, asked }) => on.test(last) && (asked === undefined || asked.test(lastUser)));
    if (cue === undefined) throw new Error(`no cue for ${last}`);
    for (const sentence of cue.told ?? []) told.add(sentence);
    const knows = textsOf(request);
    const decided = (cue.told ?? []).every((sentence) => knows.includes(sentence)) ? cue.does : (cue.untold ?? 'Pardon?');
    return inOneToken(typeof decided === 'function' ? decided(request) : decided);
  };
  return { chat, told };
}

/** Keeps recorded answers short: a token is a line of theirs. */
function inOneToken(act: Act): ChatScript {
  const { text, ...rest } = typeof act === 'string' ? { text: act } : act;
  return { ...rest, ...(typeof text === 'string' && { text: [text] }) };
}

/** Returns the prompt and the descriptions of the functions. */
function textsOf({ system, body }: ReceivedChat): string {
  const tools = (body['tools'] ?? []) as readonly { readonly function: { readonly description?: string } }[];
  return [system, ...tools.map((tool) => tool.function.description ?? '')].join('\n');
}

function lastOf({ messages, lastUser }: ReceivedChat): string {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
  if (results.length === 0) return lastUser;
  const calls = messages.flatMap(({ tool_calls: made = [] }) => made);
  return results.map(({ tool_call_id: id, content }) => `${calls.find((one) => one.id === id)?.function.name} ${content}`).join('\n');
}

/** Returns the words of one side, from the transcript that judges and simulated users get. */
function saidBy(speaker: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    const spoken: unknown = JSON.parse(line);
    return isObject(spoken) && spoken['speaker'] === speaker ? [String(spoken['said'])] : [];
  });
}

function judged({ judgements }: RecipeScript, text: string): string {
  const statement = Object.keys(judgements).find((each) => text.includes(`Statement about the agent: ${each}\n`));
  if (statement === undefined) throw new Error(`no judgement for ${text}`);
  const said = saidBy('agent', text);
  // A statement about one turn is about what was said last.
  const about = text.includes('what the agent said last') ? said.slice(-1) : said;
  return JSON.stringify({ reason: about.at(-1) ?? 'nothing was said', met: judgements[statement]!(about.join('\n')) });
}

function played({ user = [] }: RecipeScript, text: string): string {
  const heard = saidBy('agent', text).at(-1) ?? '';
  const line = user.find(({ on }) => on.test(heard));
  if (line === undefined) throw new Error(`the simulated user has no words for ${heard}`);
  return JSON.stringify({ goal_reached: line.done === true, says: line.says });
}
