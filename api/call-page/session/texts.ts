/** Short texts of what both pages show. */
import type { Source, ToolCall } from './record.ts';

/** `1:05`, from seconds. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** `look_up_price(item: "bicycle")`. */
export function toolText({ name, arguments: given }: ToolCall): string {
  if (given === undefined) return `${name}(…)`;
  const values = Object.entries(given).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `${name}(${values.join(', ')})`;
}

/** Indented where it is JSON. */
export function resultText(result: string): string {
  try {
    return JSON.stringify(JSON.parse(result), null, 2);
  } catch {
    return result;
  }
}

/** Each file once, with its best score, best first. */
export function sourceFiles(sources: readonly Source[]): readonly { readonly filename: string; readonly score: number }[] {
  const best = new Map<string, number>();
  for (const { filename, score } of sources) best.set(filename, Math.max(score, best.get(filename) ?? score));
  return [...best].map(([filename, score]) => ({ filename, score })).toSorted((left, right) => right.score - left.score);
}
