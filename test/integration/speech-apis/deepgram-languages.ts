/** nova-3 takes these languages one at a time: https://developers.deepgram.com/docs/models-languages-overview */
export const deepgramLanguages: ReadonlySet<string> = new Set(
  (
    'multi be bg bn bs ca cs da da-DK de de-CH el en en-AU en-GB en-IN en-NZ en-US es es-419 et fi fr fr-CA hi hr hu id it ja kn ko ko-KR lt lv mk mr ' +
    'ms nl nl-BE no pl pt pt-BR pt-PT ro ru sk sl sr sv sv-SE ta te th th-TH tl tr uk vi zh zh-CN zh-HK zh-Hans zh-Hant zh-TW'
  ).split(' '),
);
