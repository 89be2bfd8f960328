/** Makes short texts for both pages. Numbers and dates are written as the browser's language does. */
import type { Cost, Delivery, ShownCallSummary, Source, ToolCall } from './record.ts';

/** Writes seconds as `1:05`. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Writes milliseconds as `0.71 s`. */
export function secondsText(ms: number): string {
  return ms > 0 && ms < 10 ? '< 0.01 s' : `${(ms / 1_000).toFixed(2)} s`;
}

/** Turns a name from a configuration into a label: `Reason for call`. */
export function plainName(name: string): string {
  const words = name.replace(/[_\s]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Writes a cost as `$0.0123`; one of less than a cent shows the figures that count. */
export function costText({ amount, currency }: Cost): string {
  return new Intl.NumberFormat(undefined, { style: 'currency', currency, maximumFractionDigits: 4 }).format(Number(amount));
}

/** Says which way the user talks, and with which number. */
export function wayText({ direction, from_number: from, to_number: to }: ShownCallSummary): string {
  if (direction === undefined) return 'Web call';
  return direction === 'inbound' ? `From ${from ?? 'an unknown number'}` : `To ${to ?? 'an unknown number'}`;
}

/** Writes a day as `Today`, `Yesterday`, or the date with its weekday. */
export function dayText(date: Date, now: Date): string {
  for (const [daysAgo, text] of ['Today', 'Yesterday'].entries()) {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo);
    if (day.toDateString() === date.toDateString()) return text;
  }
  return date.toLocaleDateString(undefined, { dateStyle: 'full' });
}

/** Describes a delivery: `2 attempts, subscription deleted`. */
export function deliveryText({ attempts, reason }: Delivery): string {
  const count = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  if (reason === null || reason === 'ok') return count;
  return `${count}, ${reason === 'http_status' ? 'refused by the receiver' : reason.replaceAll('_', ' ')}`;
}

/** Writes a tool call as `look_up_price(item: "bicycle")`. */
export function toolText({ name, arguments: given }: ToolCall): string {
  if (given === undefined) return `${name}(…)`;
  const values = Object.entries(given).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `${name}(${values.join(', ')})`;
}

/** Indents a result that is JSON. */
export function resultText(result: string): string {
  try {
    return JSON.stringify(JSON.parse(result), null, 2);
  } catch {
    return result;
  }
}

/** Least share of the best source's score: below it, a source was found but hardly used. */
const LEAST_SHARE = 1 / 3;

/** Returns each file once, with its best score, best first; without those that fit far worse than the best. */
export function sourceFiles(sources: readonly Source[]): readonly { readonly filename: string; readonly score: number }[] {
  const best = new Map<string, number>();
  for (const { filename, score } of sources) best.set(filename, Math.max(score, best.get(filename) ?? score));
  const least = LEAST_SHARE * Math.max(...best.values());
  return [...best]
    .map(([filename, score]) => ({ filename, score }))
    .filter(({ score }) => score >= least)
    .toSorted((left, right) => right.score - left.score);
}
