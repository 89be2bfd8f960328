/** Phone calls: inbound, outbound, transfers, voicemail. */
export { InboundCalls } from './inbound.ts';
export { Keypad } from './keypad.ts';
export { OutboundCalls } from './outbound.ts';
export { Screening } from './screening.ts';
export { Transfers, type TransferVoice } from './transfer/index.ts';
export { summarizeCall } from './transfer/summary.ts';
