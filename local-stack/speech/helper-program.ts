/**
 * The helper's program: espeak-ng speaks, pocketsphinx listens. It reads a JSON object from each line of its input and answers it with one
 * on a line of its output. It holds the models in memory, so that a sentence takes a moment, not seconds.
 */
export const helperProgram = String.raw`
import array, base64, ctypes, json, math, sys, time

class Voice:
    def __init__(self):
        import espeakng_loader
        self.lib = ctypes.CDLL(espeakng_loader.get_library_path())
        self.rate = self.lib.espeak_Initialize(2, 0, espeakng_loader.get_data_path().encode(), 0)
        if self.rate <= 0: raise RuntimeError('espeak-ng does not start')
        self.out = bytearray()
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
        def receive(samples, count, _events):
            if samples and count > 0: self.out += ctypes.string_at(samples, count * 2)
            return 0
        # Kept: the library calls it later.
        self.receive = kind(receive)
        self.lib.espeak_SetSynthCallback(self.receive)

    def choose(self, language, variant):
        tag = language.lower()
        tries = [tag, tag.split('-')[0], {'zh': 'cmn', 'fr': 'fr-fr', 'no': 'nb'}.get(tag.split('-')[0], ''), 'en-us']
        for name in tries:
            if name and self.lib.espeak_SetVoiceByName((name + '+' + variant).encode()) == 0: return name
        return None

    def speak(self, text, language, variant, speed):
        name = self.choose(language, variant)
        self.lib.espeak_SetParameter(1, speed, 0)
        del self.out[:]
        data = text.encode() + b'\0'
        self.lib.espeak_Synth(data, len(data), 0, 0, 0, 1, None, None)
        return {'rate': self.rate, 'voice': name, 'pcm': base64.b64encode(bytes(self.out)).decode()}

class Ear:
    def __init__(self):
        from pocketsphinx import Decoder
        self.grammar = Decoder(lm=None, loglevel='FATAL', beam=1e-80, pbeam=1e-80, wbeam=1e-60, bestpath=False)
        self.free = Decoder(loglevel='FATAL', maxhmmpf=3000, ds=2, topn=2, maxwpf=10)
        self.phrases = None

    def known(self, phrase):
        return all(self.grammar.lookup_word(word) for word in phrase.split())

    def use(self, phrases):
        usable = [p for p in phrases if p and self.known(p)]
        if usable != self.phrases:
            text = '#JSGF V1.0;\ngrammar g;\npublic <s> = ' + ' | '.join(usable) + ' ;\n'
            self.grammar.add_jsgf_string('g', text)
            self.grammar.activate_search('g')
            self.phrases = usable
        return usable

    def run(self, decoder, data):
        quiet = b'\0' * 9600
        decoder.start_utt()
        decoder.process_raw(quiet + data + quiet, False, True)
        decoder.end_utt()
        return decoder.hyp()

    def partial(self, pcm, phrases):
        if not self.use(phrases): return {'text': ''}
        self.grammar.start_utt()
        self.grammar.process_raw(b'\0' * 9600 + base64.b64decode(pcm), False, False)
        best = self.grammar.hyp()
        self.grammar.end_utt()
        return {'text': best.hypstr if best else ''}

    def hear(self, pcm, phrases):
        data = base64.b64decode(pcm)
        frames = max(1, len(data) / 320)
        usable = self.use(phrases)
        best = self.run(self.grammar, data) if usable else None
        if best and best.hypstr in usable:
            fit = math.log(max(1e-12, best.score)) / frames
            if fit > -0.0066: return {'text': best.hypstr, 'certain': True, 'fit': fit}
        else: fit = None
        other = self.run(self.free, data)
        return {'text': other.hypstr if other else '', 'certain': False, 'fit': fit}

voice = ear = None
problems = {}
try: voice = Voice()
except Exception as error: problems['voice'] = str(error)
try: ear = Ear()
except Exception as error: problems['ear'] = str(error)
print(json.dumps({'ready': True, 'problems': problems}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    try:
        if asked['do'] == 'speak': answer = voice.speak(asked['text'], asked['language'], asked['variant'], asked.get('speed', 150))
        elif asked['do'] == 'partial': answer = ear.partial(asked['pcm'], asked['phrases'])
        else: answer = ear.hear(asked['pcm'], asked['phrases'])
    except Exception as error:
        answer = {'problem': type(error).__name__ + ': ' + str(error)}
    answer['id'] = asked['id']
    print(json.dumps(answer), flush=True)
`;
