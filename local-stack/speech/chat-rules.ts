/**
 * Answers in place of a language model, by a few rules. They look into the tools that are offered, call one when its words occur in what
 * the user said, say what it answered, and say good-bye. That is enough to try an agent's tools, its timing and its voice, but not what
 * its prompt says.
 */
import { parseJson } from '../../platform/json.ts';
import { answerFrom } from './passages.ts';
import { numbersIn, tellingWords, spokenWords } from './words.ts';

export interface RuleMessage {
  readonly role: string;
  readonly content: string;
}

export interface RuleTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments' object. */
  readonly parameters: Schema;
}

export interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly description?: string;
  readonly pattern?: string;
}

export interface RuleCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface RuleAnswer {
  readonly text: string;
  readonly calls: readonly RuleCall[];
}

export function answerByRules(messages: readonly RuleMessage[], tools: readonly RuleTool[]): RuleAnswer {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(asked + 1).filter(({ role }) => role === 'tool');
  const said = messages[asked]?.content.trim() ?? '';
  if (results.length > 0) return say(results.map(({ content }) => readOut(content, said)).join(' '));
  if (said === '') return say('Hello. What can I do for you?');
  const words = new Set(spokenWords(said));
  if (isFarewell(said, words)) {
    const hangUp = tools.find(({ name }) => name === 'end_call');
    return { text: 'Good bye.', calls: hangUp === undefined ? [] : [callOf(hangUp, said)] };
  }
  const chosen = toolFor(said, tools);
  if (chosen !== undefined) return { text: '', calls: [callOf(chosen, said)] };
  if (/what can you do|who are you/i.test(said)) return say(abilities(tools));
  if (hasAny(words, ['hello', 'hi', 'morning', 'afternoon', 'evening', 'hallo'])) return say('Hello. What can I do for you?');
  if (hasAny(words, ['thank', 'thanks', 'danke'])) return say('You are welcome. Is there anything else?');
  if (hasAny(words, ['story'])) return say(STORY);
  return say(`You said: ${said.replace(/[.!?]+$/, '')}. I answer by a few rules, so that is all I can say about it.`);
}

const say = (text: string): RuleAnswer => ({ text, calls: [] });

/** The story is long enough to be interrupted. */
const STORY =
  'Once there was a bicycle that stood in a shed for many years. Nobody rode it, and its chain grew stiff. One morning the door was opened, ' +
  'and a child came in with a pump and a can of oil. By noon the wheels turned again. By evening they had been to the sea and back, and neither of ' +
  'them wanted to go home.';

const hasAny = (words: ReadonlySet<string>, some: readonly string[]): boolean => some.some((word) => words.has(word));

function isFarewell(said: string, words: ReadonlySet<string>): boolean {
  return (
    hasAny(words, ['bye', 'goodbye', 'tschüss', 'wiederhören', 'adieu', 'adiós']) ||
    /\b(that('s| is) all|hang up|end the call)\b/i.test(said)
  );
}

/** Picks the tool whose texts share the most words with what was said; words of its name count twice. */
function toolFor(said: string, tools: readonly RuleTool[]): RuleTool | undefined {
  const stems = new Set(tellingWords(said));
  const shared = (text: string): number => new Set(tellingWords(text).filter((word) => stems.has(word))).size;
  const ranked = tools
    .filter(({ name }) => name !== 'end_call' && name !== 'search_knowledge_base')
    .map((tool) => ({
      tool,
      score:
        2 * shared(tool.name.replaceAll(/[_-]/g, ' ')) +
        shared(tool.description) +
        shared(
          Object.keys(tool.parameters.properties ?? {})
            .join(' ')
            .replaceAll('_', ' '),
        ),
    }))
    .sort((left, right) => right.score - left.score);
  const best = ranked[0];
  if (best !== undefined && best.score >= 2) return best.tool;
  const isQuestion = said.endsWith('?') || /^(what|when|where|how|which|who|do|does|is|are|can|why)\b/i.test(said);
  const search = tools.find(({ name }) => name === 'search_knowledge_base');
  return isQuestion && !/what can you do|who are you|hear me/i.test(said) ? search : undefined;
}

function callOf(tool: RuleTool, said: string): RuleCall {
  const { properties = {}, required } = tool.parameters;
  const names = Object.keys(properties);
  const wanted = names.filter((name) => required === undefined || required.includes(name) || mentions(said, name));
  return { name: tool.name, arguments: Object.fromEntries(wanted.map((name) => [name, valueFor(name, properties[name] ?? {}, said)])) };
}

const mentions = (said: string, name: string): boolean =>
  spokenWords(name.replaceAll('_', ' ')).some((word) => said.toLowerCase().includes(word));

/** Returns a value that the schema allows, taken from what was said where that has one. */
export function valueFor(name: string, schema: Schema, said: string): unknown {
  const choice = schema.enum?.find(
    (value) => typeof value === 'string' && said.toLowerCase().includes(value.toLowerCase().replaceAll('_', ' ')),
  );
  if (schema.enum !== undefined) return choice ?? schema.default ?? schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== 'null') : schema.type;
  const [number] = numbersIn(said);
  switch (type) {
    case 'integer':
    case 'number':
      return number === undefined ? (schema.default ?? schema.minimum ?? 1) : Number(number);
    case 'boolean':
      return !/\b(no|not)\b/i.test(said);
    case 'array':
      return [valueFor(name, schema.items ?? { type: 'string' }, said)];
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, valueFor(key, inner, said)]));
    default:
      if (schema.pattern !== undefined) return fitting(schema.pattern, number, schema.description ?? '') ?? said;
      if (number !== undefined && /(number|id|code|order|phone|year|count)$/i.test(name)) return number;
      if (/(e-?mail)/i.test(name)) return /\S+@\S+\.\S+/.exec(said)?.[0] ?? 'caller@example.com';
      if (/(time_?zone)/i.test(name)) return 'UTC';
      if (/date|day|start|end|time/i.test(name)) return new Date(Date.now() + 86_400_000).toISOString();
      return said;
  }
}

/** Returns a text that fits the pattern: its beginning with the number that was said, or the example in its description. */
function fitting(pattern: string, number: string | undefined, description: string): string | undefined {
  const example = /e\.g\. (\S+?)[.,]?(?: |$)/.exec(description)?.[1];
  const prefix = /^\^([\w-]*)/.exec(pattern)?.[1] ?? '';
  return [number === undefined ? undefined : prefix + number, example].find((text) => text !== undefined && new RegExp(pattern).test(text));
}

/** Turns a tool's answer into a sentence to speak; of passages of a knowledge base, those that answer the question. */
export function readOut(content: string, question = ''): string {
  const value = parseJson(content) as object | string | number | boolean | null | undefined;
  if (value === undefined) return content.slice(0, 400);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const { results } = value as { readonly results?: unknown };
  const passages = (Array.isArray(results) ? results : []).flatMap((each: { readonly content?: unknown } | null) =>
    typeof each?.content === 'string' ? [each.content] : [],
  );
  if (passages.length > 0) return answerFrom(passages, question) ?? 'I did not find anything about that.';
  const facts = leaves(value).slice(0, 4);
  return facts.length === 0 ? 'There is nothing about that.' : `${facts.join(', ').replace(/[.\s]+$/, '')}.`;
}

const UNREAD = /^(id|.*_id|source|page|score|url|chunk|position)$/i;
/** A field of such a name is the answer itself. */
const PLAIN = /^(content|text|answer|result|results|message|error|data)$/i;

function leaves(value: unknown, name = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) {
    const said = typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').slice(0, 300) : String(value);
    return said === '' || said === 'null' ? [] : [name === '' ? said : `${name.replaceAll(/[_-]/g, ' ')}: ${said}`];
  }
  if (Array.isArray(value)) return value.flatMap((item: unknown) => leaves(item, name));
  // Where a passage stands is nothing to read aloud.
  return Object.entries(value).flatMap(([key, inner]) => (UNREAD.test(key) ? [] : leaves(inner, PLAIN.test(key) ? '' : key)));
}

function abilities(tools: readonly RuleTool[]): string {
  const names = tools.filter(({ name }) => name !== 'end_call').map(({ name }) => name.replaceAll(/[_-]/g, ' '));
  return names.length === 0 ? 'I can hear you and answer by a few rules.' : `I can do this: ${names.join(', ')}.`;
}
