import fc from 'fast-check';
import { expect, it } from 'vitest';

import { uuidv7At } from '../../platform/uuid.ts';
import { deliveryIdOf } from './delivery-id.ts';

const event = fc.integer({ min: 0, max: 2 ** 48 - 2 }).map(uuidv7At);

it('is a UUID of its own kind that stands where the event stands', () => {
  fc.assert(
    fc.property(event, fc.string({ minLength: 1, maxLength: 128 }), (id, subscription) => {
      const delivery = deliveryIdOf(id, subscription);
      expect(delivery).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(delivery.slice(0, 13)).toBe(id.slice(0, 13));
      expect(deliveryIdOf(id, subscription)).toBe(delivery);
    }),
  );
});

it('differs with the event and with the subscription', () => {
  fc.assert(
    fc.property(event, event, (one, other) => {
      const ids = new Set([deliveryIdOf(one, 'a'), deliveryIdOf(one, 'b'), deliveryIdOf(other, 'a')]);
      expect(ids.size).toBe(one === other ? 2 : 3);
    }),
  );
});

it('never changes: rows of earlier versions are found by it', () => {
  expect(deliveryIdOf('01a1fd79-f85e-75e0-81de-ce33e681b459', 'u1')).toBe('01a1fd79-f85e-81f5-bd13-7394a732f36e');
});
