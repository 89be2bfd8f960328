/** As `sipp.test.ts` still calls it. */
export { createRooms as createCallRooms } from './rooms.ts';
