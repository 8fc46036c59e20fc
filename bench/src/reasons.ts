/**
 * Owns why a target is missed, by the id of its verdict: what forbids it, as far as that is known from profiles. A missed
 * target without a line here is shown as missed without a reason.
 */
export const REASONS: Readonly<Record<string, string>> = {
  'call-stdio-50/cpuUs':
    'what a call does here and not on the floor is kept on purpose: arguments are checked, two limits watch it, it waits for its turn, its text is cleaned, and the host checks the result against a contract where the floor declares none.',
  'discovery-1000/ms':
    'each definition is rewritten to what the model may be given, digested, searched for hidden text, compared with its pin, and its output contract is checked by the host; the floor hands the listed object over as it came.',
  'discovery-1000/cpuMs':
    'as for the time: what is done for the safety of each definition costs more than its registration, which is all that the floor does.',
  'resync-none/cpuMs':
    'a list that did not change is known by its digests only after each definition was read and put into canonical order; raw parses the JSON and keeps it.',
  'text-8/cpuMs':
    'raw only parses the JSON; here the whole text is also searched for hidden characters and carriage returns before a part of it is shown, and the host copies and checks the result: the floor itself pays for that.',
  'text-32/cpuMs': 'as for 8 MiB.',
  'crash/ms':
    'a new process is started only after the end of the old one and of its group is confirmed, and its tools are compared before the first call; raw starts one at the end of the old one and has no host.',
  'start/ms':
    'the modules of this package, of the SDK and of its schema library are loaded and compiled in the process that starts; the floor loads none of them.',
}
