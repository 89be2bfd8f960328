import { randomInt } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { cameFirst, type FirstCome } from '../../../api/resources/first-come.ts';
import { type KindContext } from '../../../api/kinds/context.ts';
import type { PhoneNumber } from '../../../crds/index.ts';
import type { Stored } from '../../../kube/types.ts';
import { aPhoneNumber } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { aContext, organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
let context: KindContext;
let org: string;

beforeAll(async () => {
  org = (await organization(facade)).name;
  context = aContext({ store: facade.store, transport: facade.transport });
  context.start();
});
afterAll(() => context.stop());

const number = `+1${randomInt(1e12, 1e13)}`;
const apply = (name: string, displayName: string): Promise<Stored<PhoneNumber>> =>
  context.views.phoneNumbers.client.apply(aPhoneNumber(name, number, org, { displayName }) as PhoneNumber);
const claim = (): FirstCome<PhoneNumber> => ({
  view: context.views.phoneNumbers,
  index: 'number',
  value: number,
  listed: { fieldSelector: `spec.number=${number}` },
  isRival: () => true,
});

describe('who came first', () => {
  it('follows from the order of creation, whatever was written since and however late one asks', async () => {
    const older = await apply('a', 'as made');
    const younger = await apply('b', 'as made');
    expect([await cameFirst(older, claim()), await cameFirst(younger, claim())]).toEqual([true, false]);
    const touched = await apply('a', 'changed since');
    await context.views.phoneNumbers.findSince(touched, 'number', number);
    expect([await cameFirst(older, claim()), await cameFirst(younger, claim())]).toEqual([true, false]);
    await apply('b', 'changed too');
    expect([await cameFirst(older, claim()), await cameFirst(younger, claim())]).toEqual([true, false]);
  });
});
