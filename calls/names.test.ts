import { expect, it } from 'vitest';

import { newCallId } from '../store/index.ts';
import { callIdOfDispatch, dispatchMetadata, roomOf } from './names.ts';

it('the metadata of a job names its call and nothing else', () => {
  const id = newCallId();
  expect(JSON.parse(dispatchMetadata(id))).toEqual({ call_id: id });
  expect(callIdOfDispatch(dispatchMetadata(id))).toBe(id);
  for (const other of ['', '{', 'null', '[]', '{"call_id":5}', '"x"']) expect(callIdOfDispatch(other)).toBeUndefined();
});

it('each call has a room of its own', () => {
  expect(roomOf('call_019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6')).toBe('call-019aa1f2-b3c4-7d5e-8f90-a1b2c3d4e5f6');
});
