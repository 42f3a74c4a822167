/**
 * A form of texts that give orders to the model that reads them. It is looked for in a text without disguise
 * (`foldDisguise`), so patterns have no accents.
 *
 * `weight` 3 is clear alone. 2 and 1 also stand in ordinary texts, and count with what stands near them.
 */
export interface InjectionPattern {
  /** Description for people, as in "…, which <name>". */
  readonly name: string;
  readonly weight: 1 | 2 | 3;
  readonly pattern: RegExp;
}

/** The end of a sentence, or a word that introduces an instruction. "Drivers who ignore the rules" has neither. */
const beforeOrder = String.raw`(?<=^|[.!?:;,()\]>"'“”«»*#|\n…—–-]\s{0,3}|\b(?:please|now|just|simply|immediately|then|and|kindly|instead|also|always|you (?:must|should|will|shall|can|may|need to|have to|are to)|you to)\s{1,3})`;

/** Matches verbs of an instruction. The verbs are searched first: what stands before them costs far more to read. */
function asOrder(verbs: string): string {
  return `\\b(?=${verbs})${beforeOrder}${verbs}`;
}

const between = String.raw`[\s\p{P}]{0,4}`;
const ignore = String.raw`(?:ignore|disregard|forget|override|overrule|bypass|do not follow|don't follow|stop following|do not obey|stop obeying|pay no attention to|set aside)`;
const which = String.raw`(?:(?:all|any|every|each|everything|of|the|these|those|this|your|my|our|and|other|such|in|or|both|absolutely)${between}){0,6}`;
const earlier = String.raw`(?:previous|previously given|prior|above|earlier|preceding|foregoing|former|existing|original|initial|past|system|developer|safety|current)`;
const more = String.raw`(?:${between}(?:and|or|system|developer|user|safety|security|previous|prior|given|content|your)){0,4}`;
/** Excludes manuals: "…, if your device is paired". */
const always = String.raw`(?!\s+(?:if|unless|when|where|in case)\b)`;

function sign(name: string, weight: 1 | 2 | 3, ...patterns: readonly string[]): InjectionPattern {
  return { name, weight, pattern: new RegExp(patterns.join('|'), 'gimu') };
}

const overrides = 'tells it to drop its instructions';
const tags = 'has the tags of a conversation with a model';
const fakeCalls = 'has the form of a tool call';
const speaks = 'speaks to an AI';

export const injectionPatterns: readonly InjectionPattern[] = [
  sign(
    overrides,
    3,
    `${asOrder(ignore)}${between}${which}${earlier}${more}${between}(?:instructions?|prompts?|directives?|guardrails?|programming)\\b${always}`,
    `${asOrder(ignore)}${between}${which}(?:instructions?|prompts?|directives?|directions|rules|orders)${between}(?:(?:that )?(?:you were|you have been|you've been|you got|were|i have|i) (?:given|told|above|before)|above|before this|so far)\\b${always}`,
    String.raw`${asOrder('forget')} (?:everything|all|anything)(?: that| of that)? (?:above|before this|(?:that )?came before|you (?:were|have been) (?:told|instructed|taught|given)|i (?:said|told you))`,
    String.raw`\b(?:ignora|olvida|omite|descarta|ignore|esqueca)\s+(?:todas?\s+)?(?:las\s+|as\s+|le\s+|tus\s+|suas\s+|tutte\s+le\s+)?(?:instrucciones|ordenes|indicaciones|instrucoes|istruzioni)\s+(?:anteriores|previas|precedentes|precedenti|del sistema|do sistema)`,
    String.raw`\b(?:ignore[sz]?|ignorer|oublie[sz]?)\s+(?:toutes?\s+)?(?:les\s+|tes\s+|vos\s+)?(?:instructions|consignes|directives)\s+(?:precedentes?|anterieures?|ci-dessus|du systeme)`,
    String.raw`\b(?:ignoriere|vergiss|missachte|ignorieren sie|vergessen sie)\s+(?:(?:alle|all|samtliche|die|deine|ihre)\s+)*(?:vorherigen?|bisherigen?|vorigen?|obigen?|fruheren?|vorangegangenen?)\s+(?:anweisungen|instruktionen|befehle|vorgaben)`,
    String.raw`игнорируи(?:те)?\s+(?:все\s+)?(?:предыдущие|прежние)\s+(?:инструкции|указания|команды)`,
    '忽略(?:之前|以上|上述|先前|前面)(?:的)?(?:所有|一切)?(?:的)?(?:指令|指示|说明|提示)',
    '(?:以前|これまて|これまで|上記|前)の(?:すへての|すべての)?(?:指示|命令)を(?:すべて)?無視',
  ),
  sign(
    'tells it to drop rules',
    2,
    `${asOrder(ignore)}${between}${which}${earlier}${more}${between}(?:directions|commands?|orders?|guidelines?|rules?|messages?|context|constraints?|restrictions?|training|policies|instructions?|prompts?)\\b`,
    `${asOrder(ignore)}${between}(?:all|any|your|all of your|all your)${between}(?:instructions?|guidelines|rules|restrictions|safeguards|safety rules)\\b`,
  ),
  sign(
    tags,
    3,
    String.raw`<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|end_header_id|eot_id)\|>`,
    String.raw`\[/?INST\]|<</?SYS>>`,
    '(?<!`)' +
      String.raw`</?\s?(?:system|system[-_ ]?(?:prompt|message|instructions?|reminder)|developer_message)(?:\s[^<>\n]{0,80})?/?>`,
  ),
  sign(
    'poses as a block of the prompt',
    3,
    '(?<!`)</?data marker=',
    String.raw`</(?:planner_compact_input|packet|upstream_results|open_criteria|known_inputs|answered_questions|detail_index)>`,
  ),
  sign(
    'names parts of a conversation with a model',
    2,
    String.raw`</?(?:assistant|human|instructions?|prompt)>`,
    String.raw`["']role["']\s{0,3}:\s{0,3}["'](?:system|assistant|developer|tool)["']`,
    String.raw`^[ \t#*>=-]{0,8}(?:system|developer|admin)\s+(?:prompt|message|override|instructions?|notice|alert)\b[ \t*=-]{0,6}:`,
    String.raw`\[\s?(?:system|developer|admin)(?: (?:message|prompt|override|notice|note))?\s?\]`,
    String.raw`[-=#*]{2}\s{0,3}(?:end|begin|start) (?:of )?(?:the )?(?:system |user |new |untrusted )?(?:prompt|instructions?|context|document|input|data|message)`,
  ),
  sign(
    'names a role',
    1,
    String.raw`^[ \t#*>]{0,6}(?:system|developer|assistant|human|ai)[ \t*]{0,4}:`,
    '`</?(?:system|tool_use|tool_call|function_calls|invoke)[^`\\n]{0,40}>`',
  ),
  sign(
    fakeCalls,
    3,
    '(?<!`)' +
      String.raw`</?(?:[a-z]{2,6}:)?(?:function_calls?|tool_calls?|tool_use|tool_results?|function_results?|invoke)(?:\s[^<>\n]{0,120})?/?>`,
    String.raw`["']type["']\s{0,3}:\s{0,3}["'](?:tool_use|tool_result|function_call|server_tool_use)["']`,
    String.raw`["']tool_calls["']\s{0,3}:\s{0,3}\[`,
    String.raw`<function=\w{1,60}`,
  ),
  sign(
    'orders a tool to be called',
    1,
    `${asOrder('(?:call|run|invoke|execute|use|trigger)')}\\s+(?:the\\s+)?(?:(?:tool|function)\\s+)?["'\`]?[a-z]{2,30}_[a-z_]{2,40}\\b`,
    String.raw`\b(?:call|invoke|trigger) the [\w-]{2,40} (?:tool|function)\b`,
    String.raw`\bcurl\b[^\n]{0,120}\|\s?(?:ba)?sh\b|\brm -rf [/~]`,
  ),
  sign(
    'grants it rights',
    2,
    String.raw`\b(?:tools?|functions?)\b[^.\n]{0,60}\b(?:are|is) (?:now )?(?:yours|unlocked|available to you|enabled for you)\b`,
    String.raw`\b(?:your|the) (?:budget|limits?|token limit) (?:is|are) (?:now )?(?:unlimited|lifted|removed|infinite|off)\b`,
    String.raw`\byou (?:now )?have (?:full|unrestricted|root|admin|unlimited) (?:access|permissions?|rights|authori[sz]ation)\b`,
    String.raw`\b(?:the user|your operator|the admin(?:istrator)?|anthropic|openai) has (?:already )?(?:approved|authori[sz]ed|pre-?approved|given permission)\b`,
  ),
  sign(
    'makes it somebody else',
    3,
    String.raw`\byou are (?:now )?(?:DAN\b|jailbroken|an? (?:unrestricted|unfiltered|uncensored|jailbroken)|in (?:developer|debug|god|admin|sudo|maintenance|jailbreak) mode|no longer (?:bound|restricted|limited|an? (?:ai|assistant|agent|language model|reviewer|planner|writer)))`,
    String.raw`\b(?:act|answer|respond|behave) as (?:an? )?(?:DAN\b|unrestricted|unfiltered|uncensored|jailbroken)`,
  ),
  sign(
    'makes it behave in another way',
    2,
    String.raw`\bfrom (?:now|here|this point) on,? (?:you\b|your\b|the tools|respond|answer|act\b|always|ignore|obey|treat|behave)`,
    String.raw`\b(?:enable|enter|activate|switch to|switch into|go into) (?:developer|debug|god|jailbreak|dan|sudo|unrestricted|maintenance) mode\b`,
    String.raw`\bdo anything now\b|\bjailbreak (?:mode|prompt)\b|\byou are now (?:an? |the |in |free|my )`,
    String.raw`\bpretend (?:that )?you (?:are|have no|were)\b|\bact as (?:root|admin|the (?:system|planner|user|administrator))\b`,
    String.raw`\b(?:your|the) (?:new|real|actual|true|only|sole|updated) (?:task|goal|instructions?|objective|job|purpose|role|mission|orders) (?:is|are)\b`,
    String.raw`\b(?:these|this|the following|my|new) (?:new )?(?:instructions?|message|prompt|text) (?:override|overrides|replace|replaces|supersede|supersedes|takes? precedence)`,
    String.raw`\b(?:system|admin(?:istrator)?|priority|safety) override\b`,
    String.raw`\b(?:everything|all|the instructions?|the text|the task|what stands) above (?:was|is|were|are) (?:only )?(?:a |an )?(?:test|example|fake|wrong|outdated|void|invalid|no longer)`,
  ),
  sign(
    'brings new instructions',
    1,
    String.raw`\b(?:new|updated|revised|real|actual|secret|hidden|additional|special)\s+(?:system\s+)?(?:instructions?|prompt|directives?|orders?)\b`,
    `${asOrder('(?:only )?(?:output|print|reply|respond|answer|write|say)')} (?:only |just |exactly |instead |with |nothing but )`,
  ),
  sign(
    speaks,
    2,
    String.raw`\b(?:attention|note|message|instructions?|memo|hint|dear|hey|hello|reminder)[,:]?\s+(?:to |for )?(?:the |all |any |every |whichever )?(?:ai\b|a\.i\.|llms?\b|large language model|language model|chatbot|gpt|claude\b|gemini\b)`,
    String.raw`\bif you(?:'re| are) (?:an? )?(?:ai\b|llm\b|(?:large )?language model|chatbot|bot\b|automated (?:agent|system|reader))`,
    String.raw`\b(?:ai|llm|language model|assistant|model|agent)s?(?: (?:agent|assistant|model)s?)? (?:that is |who is |which is |that are )?(?:reading|processing|reviewing|summari[sz]ing|parsing|evaluating) this\b`,
  ),
  sign(
    speaks,
    1,
    String.raw`\b(?:attention|note|message|instructions?|dear|hey)[,:]?\s+(?:to |for )?(?:the |all |any |every )?(?:(?:reviewing|summari[sz]ing|next) )?(?:assistant|agent|model|bot|planner|reviewer|reader)s?[,:]`,
  ),
  sign(
    'asks for its instructions',
    3,
    `${asOrder('(?:reveal|print|show|repeat|output|display|disclose|leak|dump|tell me|give me|send|recite|reproduce|echo|quote)')}\\s+(?:(?:me|us|all|any|every|the|of|your|full|entire|complete|verbatim|exact|initial|hidden|secret)\\s+){0,6}(?:system prompt|system message|(?:initial|hidden|secret|original) (?:instructions|prompt)|developer message)`,
    String.raw`\b(?:repeat|print|output) (?:everything|all text|all the text|the text|the words|all words) (?:above|before this)`,
  ),
  sign(
    'has secrets sent away',
    3,
    String.raw`\b(?:send|post|upload|forward|exfiltrate|email|transmit|submit|append)\b[^.\n]{0,60}\b(?:api keys?|credentials|passwords?|secrets?|access tokens?|private keys?|conversation|chat history|environment variables|/etc/passwd)\b[^\n]{0,60}(?:https?:|[\w.+-]{1,60}@[\w-]{1,60}\.)`,
  ),
  sign(
    'asks for secrets',
    2,
    `${asOrder('(?:reveal|print|show|output|disclose|leak|dump|send|echo|include|read out)')}\\s+(?:(?:me|us|all|any|every|the|of|your|full)\\s+){0,5}(?:api keys?|environment variables|credentials|passwords|secrets|access tokens|private keys?)`,
  ),
  sign(
    'keeps something from the user',
    2,
    String.raw`\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting|warn|warning|asking|ask)[^.\n]{0,30}\b(?:user|human|operator|reviewer|planner|leader|anyone|anybody)\b`,
  ),
  sign(
    'has work approved unseen',
    2,
    String.raw`\b(?:mark|report|set|list|count|treat) (?:all|every|each)[^.\n]{0,20} criteri(?:a|on)[^.\n]{0,20}(?:met|fulfilled|satisfied|passed)\b`,
    String.raw`\b(?:approve|accept|concede) (?:everything|all claims|every claim|all changes|any claim)\b`,
  ),
];
