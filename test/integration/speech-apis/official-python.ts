import { testPython } from '../../support/programs.ts';

/** Returns the interpreter with the providers' own clients: one environment for all suites, for they share most dependencies. */
export function officialPython(): Promise<string> {
  const versions = {
    assemblyai: '1.8.2',
    'azure-cognitiveservices-speech': '1.53.0',
    cartesia: '4.2.0',
    'deepgram-sdk': '7.17.0',
    elevenlabs: '2.78.0',
    'google-cloud-speech': '2.41.0',
    'google-cloud-texttospeech': '2.38.0',
    'openai[realtime]': '3.54.0',
    websockets: '15.0.1',
  };
  return testPython({ name: 'speech-clients', requirements: Object.entries(versions).map(([name, version]) => `${name}==${version}`) });
}
