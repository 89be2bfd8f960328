/** A microphone of the browser that is silent until the test speaks: however slow the machine is, a caller speaks when it is their turn. */
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

/** On all pages that are opened from now on. @param speech WAV */
export async function pretendMicrophone(page: Page, speech: Buffer): Promise<void> {
  await page.runFirst(speakOnRequest(speech.toString('base64')));
}

export async function speak(page: Page): Promise<void> {
  await page.run('speak()');
}
