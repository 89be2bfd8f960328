/** The first words of the user for each call of the list that is in view: the list itself doesn't have them. */
import { firstWords, isOver, type ShownCallSummary } from '../../session/record.ts';
import type { Rest } from '../shared/rest.ts';
import type { WordsPlace } from './view.ts';

export interface FirstWords {
  /** Puts them into a place once that comes into view. */
  readonly put: WordsPlace;
  close(): void;
}

/** Reads one call after the other: the key has a rate limit, and its other users come first. */
export function readFirstWords(rest: Pick<Rest, 'call'>): FirstWords {
  const known = new Map<string, string>();
  const callOf = new WeakMap<Element, ShownCallSummary>();
  const inView = new Set<Element>();
  let isReading = false;

  const read = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    for (const place of inView) {
      inView.delete(place);
      const id = callOf.get(place)?._id;
      if (id === undefined || !place.isConnected) continue;
      const record = await rest.call(id).catch(() => undefined);
      if (record === undefined) continue;
      observer.unobserve(place);
      const words = firstWords(record) ?? (isOver(record) ? 'The user said nothing.' : undefined);
      if (words === undefined) continue;
      known.set(id, words);
      place.textContent = words;
    }
    isReading = false;
  };
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) inView.add(target);
      else inView.delete(target);
    }
    void read();
  });
  return {
    put(call, place) {
      place.textContent = known.get(call._id) ?? '';
      if (known.has(call._id)) return;
      callOf.set(place, call);
      observer.observe(place);
    },
    close: () => observer.disconnect(),
  };
}
