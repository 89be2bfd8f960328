/** Guesses by rules what a language model would find out from a transcript. */
import { parseJson } from '../../platform/json.ts';
import { numbersIn, sharedWith, tellingWords } from './words.ts';
import type { Schema } from './chat-rules.ts';

/** Returns what the user said in a transcript in lines of JSON, the form of post-call analysis. @returns undefined for another text */
export function saidIn(prompt: string): readonly string[] | undefined {
  const lines = prompt.split('\n').flatMap((line): readonly { readonly speaker?: unknown; readonly said?: unknown }[] => {
    const said = line.startsWith('{') ? parseJson(line) : undefined;
    return said === undefined ? [] : [said as object];
  });
  const spoken = lines.filter(({ speaker, said }) => typeof speaker === 'string' && typeof said === 'string');
  return spoken.length === 0 ? undefined : spoken.filter(({ speaker }) => speaker === 'user').map(({ said }) => String(said));
}

/** Returns a result for each name of the schema; null where nothing of it was said. */
export function analysed(schema: Schema, said: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, question]) => [name, resultOf(question, said)]));
}

function resultOf({ type, enum: choices }: Schema, said: readonly string[]): unknown {
  const all = said.join(' ');
  if (choices !== undefined) {
    const texts = choices.filter((choice) => typeof choice === 'string');
    const shared = (choice: string): number => sharedWith(tellingWords(choice), all);
    const [best] = texts.toSorted((left, right) => shared(right) - shared(left));
    if (best !== undefined && shared(best) > 0) return best;
    return texts.find((choice) => /^(other|none|unknown|unclear)\b/i.test(choice)) ?? null;
  }
  switch (Array.isArray(type) ? type[0] : type) {
    case 'boolean':
      return said.length > 0 && !/\b(complain|broken|not|wrong)\b/i.test(all);
    case 'integer':
    case 'number':
      return numbersIn(all).map(Number)[0] ?? null;
    default:
      return said.length === 0 ? null : `The caller said: ${said.slice(0, 3).map(quoted).join(', ')}.`;
  }
}

const quoted = (text: string): string => `“${text.trim().replace(/[.!?]+$/, '')}”`;
