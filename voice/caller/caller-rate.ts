/** Sample rate, in hertz, of all sound that goes into the room and comes out of it: 16 bits, one channel. */
export const CALLER_RATE = 48_000;
