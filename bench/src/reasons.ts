/**
 * Owns why a target is missed, by the id of its verdict: what forbids it, as far as that is known from profiles. A missed
 * target without a line here is shown as missed without a reason.
 */
export const REASONS: Readonly<Record<string, string>> = {
  'call-stdio-50/cpuUs':
    'what a call does here and not on the floor is kept on purpose: arguments are checked, two limits watch it, it waits for its turn, its text is cleaned, and the host checks the result against a contract where the floor declares none.',
  'discovery-1000/ms':
    'each definition is rewritten to what the model may be given, digested, searched for hidden text and pinned, and the host checks the output contract of each tool, where the floor declares none: 1 000 checks of it take about 33 ms of CPU in a fresh process, those of an empty one 6 to 9.',
  'discovery-1000/cpuMs':
    "as for the time: in the profile more than half of the publishing is the host's registration with its contract check; the rest is the work for the safety of each definition, which the floor does not do.",
  'discovery-1000/peakMib':
    'the definitions as the server sent them are kept beside what the model is given, to compare the next list with, and once more as text for the pins.',
  'memory/rssMib':
    'the modules of this package and the SDK, and of each server its connection, its process handle and both forms of its definitions; the floor keeps only what is registered.',
  'fleet/ms':
    'raw has no host: the floor alone is past the target. What is loaded and compiled here besides (this package, the SDK) shares two cores with 20 processes that start.',
  'resync-none/cpuMs':
    'a list that did not change is compared with the last one, and no definition is read, digested or registered again; the list is still weighed and compared item by item.',
  'text-8/cpuMs':
    'raw only parses the JSON; here the whole text is searched once for hidden characters, which takes about 5 ms, and measured, before a part of it is shown, and the host copies and checks the result: the floor itself pays for that.',
  'text-32/cpuMs': 'as for 8 MiB.',
  'crash/ms':
    'a new process is started only after the end of the old one and of its group is confirmed, and its tools are compared before the first call; raw starts one at the end of the old one and has no host.',
  'start/ms':
    'the modules of this package, of the SDK and of its schema library are loaded and compiled in the process that starts, some 70 ms of CPU; the floor loads none of them.',
}
