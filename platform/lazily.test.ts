import { expect, it } from 'vitest';

import { lazily } from './lazily.ts';

it('opens once, for the first who asks', async () => {
  let opened = 0;
  const thing = lazily(async () => ({ number: (opened += 1) }));
  expect(opened).toBe(0);
  expect(await Promise.all([thing.get(), thing.get()])).toEqual([{ number: 1 }, { number: 1 }]);
  expect(await thing.get()).toBe(await thing.get());
  expect(opened).toBe(1);
});

it('does not remember a failure, though all who asked meanwhile hear of it', async () => {
  const outcomes = [Promise.withResolvers<{ readonly ok: true }>(), Promise.withResolvers<{ readonly ok: true }>()];
  let attempts = 0;
  const thing = lazily(() => outcomes[attempts++]!.promise);
  const asked = Promise.allSettled([thing.get(), thing.get()]);
  outcomes[0]!.reject(new Error('not now'));
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  outcomes[1]!.resolve({ ok: true });
  expect(await thing.get()).toEqual({ ok: true });
  expect(attempts).toBe(2);
});

it('closes what is open or is being opened, and nothing else', async () => {
  const closed: object[] = [];
  const close = (opened: object): void => void closed.push(opened);
  const unused = lazily(async () => ({}));
  await unused.close(close);
  const broken = lazily<object>(() => Promise.reject(new Error('never')));
  const asked = broken.get().catch(() => undefined);
  await broken.close(close);
  await asked;
  expect(closed).toEqual([]);
  const slow = Promise.withResolvers<object>();
  const thing = lazily(() => slow.promise);
  void thing.get();
  const closing = thing.close(close);
  const opened = {};
  slow.resolve(opened);
  await closing;
  expect(closed).toEqual([opened]);
});

it('says when closing fails', async () => {
  const thing = lazily(async () => ({}));
  await thing.get();
  await expect(thing.close(() => Promise.reject(new Error('it hangs')))).rejects.toThrow('it hangs');
});
