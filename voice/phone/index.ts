/** Phone calls: inbound, outbound, transfers, voicemail. */
export { InboundCalls } from './inbound.ts';
export { Keypad } from './keypad.ts';
export { OutboundCalls } from './outbound.ts';
export { GreetingEnd } from './greeting-end.ts';
export { isMachine, Screening } from './screening.ts';
export type { CalleeCategory } from './voicemail-detection.ts';
export { Transfers, type TransferVoice } from './transfer/index.ts';
export { summarizeCall } from './transfer/summary.ts';
