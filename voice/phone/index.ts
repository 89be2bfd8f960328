/** What a call by phone has that a call from a browser hasn't. */
export { InboundCalls, type Inbound } from './inbound.ts';
export { finishReasonOfPhoneLeaving } from './leaving.ts';
export { phoneLegOf, type PhoneLeg } from './leg.ts';
export { OutboundCalls, type Dialled } from './outbound.ts';
export { Transfers } from './transfer/index.ts';
export { sessionVoice } from './transfer/session-voice.ts';
export { listenForVoicemail } from './voicemail.ts';
