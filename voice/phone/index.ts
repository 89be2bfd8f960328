/** Phone calls: inbound, outbound, transfers, voicemail. */
export { InboundCalls } from './inbound.ts';
export { Keypad } from './keypad.ts';
export { OutboundCalls } from './outbound.ts';
export { Transfers } from './transfer/index.ts';
export { sessionVoice } from './transfer/session-voice.ts';
export { listenForVoicemail } from './voicemail.ts';
