/**
 * Gives the browser a microphone that is silent until the test speaks: a caller speaks when it is their turn, however slow the machine is.
 */
import type { Page } from './browser.ts';

const speakOnRequest = (wav: string): string => `
  // An empty page has no devices.
  if (navigator.mediaDevices) navigator.mediaDevices.getUserMedia = async () => {
    const context = new AudioContext();
    const microphone = context.createMediaStreamDestination();
    const speech = await context.decodeAudioData(Uint8Array.from(atob('${wav}'), (letter) => letter.charCodeAt(0)).buffer);
    window.speak = () => {
      const source = context.createBufferSource();
      source.buffer = speech;
      source.connect(microphone);
      source.start();
    };
    return microphone.stream;
  };`;

/** Replaces the microphone on all pages that are opened from now on. @param speech a WAV file */
export async function pretendMicrophone(page: Page, speech: Buffer): Promise<void> {
  await page.runFirst(speakOnRequest(speech.toString('base64')));
}

export async function speak(page: Page): Promise<void> {
  await page.run('speak()');
}
