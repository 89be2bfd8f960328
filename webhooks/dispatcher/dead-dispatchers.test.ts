import { beforeEach, expect, it, vi } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { DeadDispatchers } from './dead-dispatchers.ts';

const [self, other] = [1, 2];
const onDeath = vi.fn<(uids: readonly string[]) => void>();
const freeClaims = vi.fn<(except: ReadonlySet<number>) => Promise<readonly string[]>>(async () => ['sub']);
let owners: readonly number[] | undefined;
let dead: DeadDispatchers;

beforeEach(() => {
  vi.clearAllMocks();
  owners = [self, other];
  const claimOwners = async () => owners && new Set(owners);
  dead = new DeadDispatchers({ store: { claimOwners, freeClaims }, onDeath, logger: createLogger({ role: 'test', level: 'silent' }) });
});

async function look(...seen: readonly (readonly number[] | undefined)[]): Promise<void> {
  for (const one of seen) {
    owners = one;
    await dead.look();
  }
}

it('takes over from those who died before it began, at its second look', async () => {
  await look([self]);
  expect(freeClaims).not.toHaveBeenCalled();
  await look([self], [self], [self]);
  expect(freeClaims.mock.calls).toEqual([[new Set([self])]]);
  expect(onDeath.mock.calls).toEqual([[['sub']]]);
});

it('takes over from one that two looks have missed', async () => {
  await look([self, other], [self, other], [self]);
  expect(freeClaims).toHaveBeenCalledTimes(1);
  await look([self]);
  expect(freeClaims.mock.lastCall).toEqual([new Set([self])]);
  expect(onDeath).toHaveBeenCalledTimes(2);
  await look([self], [self]);
  expect(freeClaims).toHaveBeenCalledTimes(2);
});

it('leaves one alone that comes back between two looks', async () => {
  await look([self, other], [self, other], [self], [self, other], [self, other]);
  expect(freeClaims).toHaveBeenCalledTimes(1);
});

it('learns anew who lives where it could not judge, or a look failed', async () => {
  await look([self, other], [self, other], undefined, [self], [self]);
  expect(freeClaims).toHaveBeenCalledTimes(1);
  await look([self, other], [self, other]);
  freeClaims.mockRejectedValueOnce(new Error('away'));
  await look([self]);
  await expect(look([self])).rejects.toThrow('away');
  await look([self], [self]);
  expect(onDeath).toHaveBeenCalledTimes(1);
});
