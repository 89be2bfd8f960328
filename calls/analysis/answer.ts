/** Reads the answer of a model. Lenient with its form, strict with its types: a result has the type that was asked for. */
import { parseJson } from '../../platform/json.ts';
import type { AnalysisValue } from '../../store/index.ts';
import type { AnalysisQuestion } from './questions.ts';

/** Characters of a text beyond this are cut off. */
export const MAX_RESULT_LENGTH = 4_096;

/** The result of a question, null where the call does not say; or why the answer is unusable. */
export type Reading = { readonly result: AnalysisValue | null } | { readonly problem: string };

/** @param questions the questions that the model was asked */
export function readAnswer(text: string, questions: readonly AnalysisQuestion[]): ReadonlyMap<string, Reading> {
  const answered = readObject(text, questions);
  return new Map(
    questions.map((question): [string, Reading] => {
      if (answered === undefined) return [question.name, { problem: 'the answer is no JSON object' }];
      if (!Object.hasOwn(answered, question.name)) return [question.name, { problem: 'the answer does not have this key' }];
      return [question.name, readValue(answered[question.name], question)];
    }),
  );
}

/** @param value from JSON; numbers and booleans in quotation marks are accepted */
export function readValue(value: unknown, question: AnalysisQuestion): Reading {
  return value === null ? { result: null } : READERS[question.type](value, question);
}

const READERS: Readonly<Record<AnalysisQuestion['type'], (value: unknown, question: AnalysisQuestion) => Reading>> = {
  string(value) {
    if (typeof value !== 'string') return { problem: 'it has to be a string' };
    return { result: value.trim() === '' ? null : storable(value.trim()) };
  },
  enum(value, { choices = [] }) {
    const word = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
    const choice = choices.find((one) => one === value) ?? choices.find((one) => one.toLowerCase() === word);
    return choice === undefined ? { problem: `it has to be one of ${JSON.stringify(choices)}` } : { result: choice };
  },
  boolean(value) {
    if (typeof value === 'boolean') return { result: value };
    const word = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
    return word === 'true' || word === 'false' ? { result: word === 'true' } : { problem: 'it has to be true or false' };
  },
  number(value) {
    const given = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    return typeof given === 'number' && Number.isFinite(given) ? { result: given } : { problem: 'it has to be a number, without a unit' };
  },
};

/** Removes what Postgres and JSON cannot store. */
function storable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are meant
  return text
    .replaceAll(/(?![\n\t])\p{Cc}/gu, '')
    .slice(0, MAX_RESULT_LENGTH)
    .toWellFormed();
}

type Values = Readonly<Record<string, unknown>>;

/** Models put the object into a code fence, behind words, or into another object; asked one question, some answer only its value. */
function readObject(text: string, questions: readonly AnalysisQuestion[]): Values | undefined {
  const names = questions.map(({ name }) => name);
  const said = text.trim();
  const candidates = [said, ...fenced(said), ...braced(said)];
  for (const candidate of candidates) {
    const found = unwrapped(parseJson(candidate), names);
    if (found !== undefined) return found;
  }
  const [only] = questions;
  if (only === undefined || questions.length > 1 || only.type === 'string') return undefined;
  return { [only.name]: parseJson(said) ?? said };
}

const fenced = (text: string): readonly string[] => [...text.matchAll(/```(?:json)?\s*([\s\S]*?)```/gi)].map(([, inside = '']) => inside);

/** Returns the text from the first brace to the last. */
function braced(text: string): readonly string[] {
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')];
  return from === -1 || to < from ? [] : [text.slice(from, to + 1)];
}

/** Finds the object that has the names: it may be inside an object with one member, or a list of names and results. */
function unwrapped(value: unknown, names: readonly string[], depth = 0): Values | undefined {
  if (Array.isArray(value)) return unwrapped(listed(value), names, depth);
  if (typeof value !== 'object' || value === null) return undefined;
  const object = value as Values;
  if (names.some((name) => Object.hasOwn(object, name))) return object;
  const inside = Object.values(object);
  return (inside.length === 1 && depth < 2 ? unwrapped(inside[0], names, depth + 1) : undefined) ?? (depth === 0 ? object : undefined);
}

function listed(values: readonly unknown[]): Values {
  const pairs = values.flatMap((value): [string, unknown][] => {
    const { name, result, value: other } = (value ?? {}) as Values;
    return typeof name === 'string' ? [[name, result ?? other ?? null]] : [];
  });
  return Object.fromEntries(pairs);
}
