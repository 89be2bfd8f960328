/** Puts times of the day into words, in languages in which voices read the digits wrong: "14:00", "2:30 pm", "14:30 Uhr", "14h30". */
import { editsOf } from './numbers.ts';
import type { Language, Rule } from './rule.ts';

/** Matches "am" and "pm"; the last stop may be the one of the sentence. */
const HALF = String.raw`([aApP])\.?[mM](?:\.(?=\s+[\p{Ll}\d]))?`;
const CLOCK = new RegExp(String.raw`(?<![\p{L}\d.,/:])(\d{1,2}):(\d\d)(?: ?${HALF}| ?(?:Uhr|uur))?(?![\p{L}\d/]|[.,:]\d)`, 'gu');
const ENGLISH_HOUR = new RegExp(String.raw`(?<![\p{L}\d.,/:])(\d{1,2}) ?${HALF}(?![\p{L}\d])`, 'gu');
const ROMANCE = /(?<![\p{L}\d.,/:])(\d{1,2}) ?h ?(\d\d)?(?![\p{L}\d/])/gu;

export function times({ tag, vocabulary }: Language): Rule {
  const say = vocabulary?.time;
  if (say === undefined) return () => [];
  const language = tag.toLowerCase().split('-')[0]!;
  const timeOf = (hour = '', minute?: string): string | undefined =>
    Number(hour) < 24 && Number(minute ?? 0) < 60 ? say(Number(hour), minute === undefined ? undefined : Number(minute)) : undefined;
  const halfOf = (hour = '', minute: string | undefined, half: string): string =>
    `${Number(hour)}${minute === undefined || minute === '00' ? '' : `:${minute}`} ${half.toUpperCase()}M`;
  const clock = (text: string) =>
    editsOf(text, CLOCK, ([, hour, minute, half]) => (half === undefined ? timeOf(hour, minute) : halfOf(hour, minute, half)));
  if (language === 'en')
    return (text) =>
      [...clock(text), ...editsOf(text, ENGLISH_HOUR, ([, hour, half = '']) => halfOf(hour, undefined, half))].toSorted(
        (a, b) => a.from - b.from,
      );
  if (language !== 'fr' && language !== 'pt') return clock;
  return (text) =>
    [...clock(text), ...editsOf(text, ROMANCE, ([, hour, minute]) => timeOf(hour, minute))].toSorted((a, b) => a.from - b.from);
}
