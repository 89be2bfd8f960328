/**
 * Gives the browser a microphone that is silent until the test speaks: a caller speaks when it is their turn, however slow the machine is.
 */
import type { Page } from './browser.ts';

const speakOnRequest = (wavs: readonly string[]): string => `
  // An empty page has no devices.
  if (navigator.mediaDevices) navigator.mediaDevices.getUserMedia = async () => {
    const context = new AudioContext();
    const microphone = context.createMediaStreamDestination();
    const speeches = await Promise.all(${JSON.stringify(wavs)}.map((wav) =>
      context.decodeAudioData(Uint8Array.from(atob(wav), (letter) => letter.charCodeAt(0)).buffer)));
    window.speak = (index) => {
      const source = context.createBufferSource();
      source.buffer = speeches[index];
      source.connect(microphone);
      source.start();
    };
    return microphone.stream;
  };`;

/** Replaces the microphone on all pages that are opened from now on. @param speeches WAV files */
export async function pretendMicrophone(page: Page, ...speeches: readonly Buffer[]): Promise<void> {
  await page.runFirst(speakOnRequest(speeches.map((speech) => speech.toString('base64'))));
}

/** @param index of the speech among those that the microphone was given */
export async function speak(page: Page, index = 0): Promise<void> {
  await page.run(`speak(${index})`);
}
