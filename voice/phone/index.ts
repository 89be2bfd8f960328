/** What a call by phone has that a call from a browser hasn't. */
export { InboundCalls, type Inbound } from './inbound.ts';
export { finishReasonOfPhoneLeaving } from './leaving.ts';
export { phoneLegOf, type PhoneLeg } from './leg.ts';
export { OutboundCalls, type Dialled } from './outbound.ts';
export { Transfers, type TransferVoice } from './transfer/index.ts';
export { summaryFor } from './transfer/summary.ts';
export { listenForVoicemail } from './voicemail.ts';
