import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { covers, isPermission, permissionResources, permissions, type Permission } from './permissions.ts';

const anyPermission = fc.constantFrom<Permission>(...permissions);

describe('the vocabulary', () => {
  it('is *, two words for each resource, three more of calls, and people:erase', () => {
    expect(permissions).toHaveLength(5 + 2 * permissionResources.length);
    expect(new Set(permissions).size).toBe(permissions.length);
  });

  it.each(['', 'agents', 'agents:', 'agents:delete', 'agents:create', 'Agents:read', '*:read', 'agents:read ', null, 7])(
    'has no %j',
    (word) => {
      expect(isPermission(word)).toBe(false);
    },
  );
});

describe('covers', () => {
  it('lets write read, and read not write', () => {
    expect(covers(['agents:write'], 'agents:read')).toBe(true);
    expect(covers(['agents:read'], 'agents:write')).toBe(false);
    expect(covers(['agents:write'], 'tools:read')).toBe(false);
  });

  it('lets calls:write create, and calls:create neither read nor write', () => {
    expect(covers(['calls:write'], 'calls:create')).toBe(true);
    expect(covers(['calls:read'], 'calls:create')).toBe(false);
    for (const permission of permissions)
      expect([permission, covers(['calls:create'], permission)]).toEqual([permission, permission === 'calls:create']);
  });

  it.each(['calls:control', 'calls:listen'] as const)('gives %s to nobody who does not hold it, or *', (wanted) => {
    const others = permissions.filter((permission) => permission !== wanted && permission !== '*');
    expect([covers(others, wanted), covers([wanted], wanted), covers(['*'], wanted)]).toEqual([false, true, true]);
    for (const permission of others) expect([permission, covers([wanted], permission)]).toEqual([permission, false]);
  });

  it('takes * for everything, and everything not for *', () => {
    expect(covers(['*'], permissions)).toBe(true);
    expect(
      covers(
        permissions.filter((permission) => permission !== '*'),
        '*',
      ),
    ).toBe(false);
  });

  it('gives nothing for words it does not know', () => {
    expect(covers(['agents:admin', 'agents'], 'agents:read')).toBe(false);
  });

  it('holds for a list exactly when it holds for each word of it', () => {
    fc.assert(
      fc.property(fc.array(anyPermission), fc.array(anyPermission), (holder, wanted) => {
        expect(covers(holder, wanted)).toBe(wanted.every((permission) => covers(holder, permission)));
      }),
    );
  });

  it('never gives more through a grant than the granter has', () => {
    fc.assert(
      fc.property(fc.array(anyPermission), fc.array(anyPermission), anyPermission, (holder, granted, asked) => {
        fc.pre(covers(holder, granted));
        expect(!covers(granted, asked) || covers(holder, asked)).toBe(true);
      }),
    );
  });
});
