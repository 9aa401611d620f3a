BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('10');
CREATE TABLE api_token (
	id INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	created BIGINT NOT NULL, 
	revoked BIGINT, 
	CONSTRAINT pk_api_token PRIMARY KEY (id), 
	CONSTRAINT fk_api_token_person FOREIGN KEY(person) REFERENCES person (id), 
	CONSTRAINT uq_api_token_hash UNIQUE (hash)
);
INSERT INTO "api_token" VALUES(1,2,'script','91da1b28278cd0dce6fcf2eda4da5e455eea1e846334670e1c8f8d72146e5d48',1772355600000000,NULL);
CREATE TABLE assignment (
	campaign INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	document INTEGER NOT NULL, 
	place INTEGER, 
	state TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	submitted INTEGER NOT NULL, 
	CONSTRAINT pk_assignment PRIMARY KEY (campaign, unit, person), 
	CONSTRAINT fk_assignment_campaign_person FOREIGN KEY(campaign, person) REFERENCES member (campaign, person), 
	CONSTRAINT fk_assignment_campaign_unit FOREIGN KEY(campaign, unit) REFERENCES unit (campaign, number), 
	CONSTRAINT uq_assignment_campaign_unit_place UNIQUE (campaign, unit, place)
);
INSERT INTO "assignment" VALUES(1,3,2,2,0,'done',1,1);
INSERT INTO "assignment" VALUES(1,4,2,2,0,'done',1,1);
INSERT INTO "assignment" VALUES(1,1,3,1,0,'done',1,1);
INSERT INTO "assignment" VALUES(1,2,3,1,0,'done',1,1);
CREATE TABLE attempt (
	"key" TEXT NOT NULL, 
	since BIGINT NOT NULL, 
	tries INTEGER NOT NULL, 
	CONSTRAINT pk_attempt PRIMARY KEY ("key")
);
CREATE TABLE campaign (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	scheme TEXT NOT NULL, 
	version TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	state TEXT NOT NULL, 
	source INTEGER, 
	created BIGINT NOT NULL, stage TEXT DEFAULT 'main' NOT NULL, archived BIGINT, 
	CONSTRAINT pk_campaign PRIMARY KEY (id), 
	CONSTRAINT fk_campaign_scheme_version FOREIGN KEY(scheme, version) REFERENCES scheme (id, version), 
	CONSTRAINT fk_campaign_source FOREIGN KEY(source) REFERENCES campaign (id), 
	CONSTRAINT uq_campaign_name UNIQUE (name)
);
INSERT INTO "campaign" VALUES(1,'chat','breakdown','1.0','{"name":"chat","scheme":"breakdown"}','open',NULL,1772355600000000,'main',NULL);
INSERT INTO "campaign" VALUES(2,'old','breakdown','1.0','{"name":"old","scheme":"breakdown"}','open',NULL,1772355600000000,'main',NULL);
CREATE TABLE campaign_document (
	campaign INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	level INTEGER NOT NULL, 
	shuffle BIGINT NOT NULL, part TEXT DEFAULT 'main' NOT NULL, 
	CONSTRAINT pk_campaign_document PRIMARY KEY (campaign, position), 
	CONSTRAINT fk_campaign_document_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT fk_campaign_document_digest FOREIGN KEY(digest) REFERENCES document (digest), 
	CONSTRAINT uq_campaign_document_campaign_name UNIQUE (campaign, name)
);
INSERT INTO "campaign_document" VALUES(1,1,'d0','932cb8d1a07d2938b40008f4c17967e1',1,546391006,'main');
INSERT INTO "campaign_document" VALUES(1,2,'d1','90d0bbf5318df21c0d307b6698427f37',1,2102707536,'main');
CREATE TABLE campaign_total (
	campaign INTEGER NOT NULL, 
	documents INTEGER NOT NULL, 
	units INTEGER NOT NULL, 
	done INTEGER NOT NULL, 
	complete INTEGER NOT NULL, wanted INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_campaign_total PRIMARY KEY (campaign), 
	CONSTRAINT fk_campaign_total_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
INSERT INTO "campaign_total" VALUES(1,2,4,4,4,4);
INSERT INTO "campaign_total" VALUES(2,0,0,0,0,0);
CREATE TABLE challenge (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	state TEXT NOT NULL, 
	floors TEXT NOT NULL, 
	created BIGINT NOT NULL, 
	CONSTRAINT pk_challenge PRIMARY KEY (id), 
	CONSTRAINT uq_challenge_name UNIQUE (name)
);
CREATE TABLE challenge_document (
	challenge INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	language TEXT NOT NULL, 
	votes TEXT NOT NULL, 
	CONSTRAINT pk_challenge_document PRIMARY KEY (challenge, position), 
	CONSTRAINT fk_challenge_document_challenge FOREIGN KEY(challenge) REFERENCES challenge (id), 
	CONSTRAINT fk_challenge_document_digest FOREIGN KEY(digest) REFERENCES document (digest), 
	CONSTRAINT uq_challenge_document_challenge_name UNIQUE (challenge, name)
);
CREATE TABLE challenge_pair (
	first INTEGER NOT NULL, 
	second INTEGER NOT NULL, 
	challenge INTEGER NOT NULL, 
	p TEXT NOT NULL, 
	CONSTRAINT pk_challenge_pair PRIMARY KEY (first, second), 
	CONSTRAINT fk_challenge_pair_first FOREIGN KEY(first) REFERENCES challenge_run (id), 
	CONSTRAINT fk_challenge_pair_second FOREIGN KEY(second) REFERENCES challenge_run (id), 
	CONSTRAINT fk_challenge_pair_challenge FOREIGN KEY(challenge) REFERENCES challenge (id)
);
CREATE TABLE challenge_run (
	id INTEGER NOT NULL, 
	challenge INTEGER NOT NULL, 
	team INTEGER, 
	language TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	digest TEXT NOT NULL, 
	answers TEXT NOT NULL, 
	sums TEXT NOT NULL, 
	scores TEXT NOT NULL, 
	CONSTRAINT pk_challenge_run PRIMARY KEY (id), 
	CONSTRAINT fk_challenge_run_challenge FOREIGN KEY(challenge) REFERENCES challenge (id), 
	CONSTRAINT fk_challenge_run_team FOREIGN KEY(team) REFERENCES challenge_team (id), 
	CONSTRAINT uq_challenge_run_challenge_team_language_number UNIQUE (challenge, team, language, number)
);
CREATE TABLE challenge_team (
	id INTEGER NOT NULL, 
	challenge INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	created BIGINT NOT NULL, 
	CONSTRAINT pk_challenge_team PRIMARY KEY (id), 
	CONSTRAINT fk_challenge_team_challenge FOREIGN KEY(challenge) REFERENCES challenge (id), 
	CONSTRAINT uq_challenge_team_hash UNIQUE (hash), 
	CONSTRAINT uq_challenge_team_challenge_name UNIQUE (challenge, name)
);
CREATE TABLE check_result (
	campaign INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	block TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	passed BOOLEAN NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_check_result PRIMARY KEY (campaign, person, unit), 
	CONSTRAINT fk_check_result_campaign_unit FOREIGN KEY(campaign, unit) REFERENCES expected (campaign, unit), 
	CONSTRAINT fk_check_result_campaign_person FOREIGN KEY(campaign, person) REFERENCES member (campaign, person)
);
CREATE TABLE decision (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	campaign INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	how TEXT NOT NULL, 
	follows INTEGER, 
	answers TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_decision PRIMARY KEY (id), 
	CONSTRAINT uq_decision_key UNIQUE ("key"), 
	CONSTRAINT fk_decision_campaign_unit FOREIGN KEY(campaign, unit) REFERENCES unit (campaign, number), 
	CONSTRAINT fk_decision_person FOREIGN KEY(person) REFERENCES person (id), 
	CONSTRAINT fk_decision_follows FOREIGN KEY(follows) REFERENCES person (id)
);
CREATE TABLE document (
	digest TEXT NOT NULL, 
	id TEXT NOT NULL, 
	content TEXT NOT NULL, 
	CONSTRAINT pk_document PRIMARY KEY (digest)
);
INSERT INTO "document" VALUES('932cb8d1a07d2938b40008f4c17967e1','d0','{"id":"d0","segments":[{"id":"0","role":"system","text":"turn 0 of d0"},{"id":"1","role":"user","text":"turn 1 of d0"},{"id":"2","role":"system","text":"turn 2 of d0"}],"language":"en","metadata":{"system":"Robin"}}');
INSERT INTO "document" VALUES('90d0bbf5318df21c0d307b6698427f37','d1','{"id":"d1","segments":[{"id":"0","role":"system","text":"turn 0 of d1"},{"id":"1","role":"user","text":"turn 1 of d1"},{"id":"2","role":"system","text":"turn 2 of d1"}],"language":"en","metadata":{"system":"Robin"}}');
CREATE TABLE draft (
	id TEXT NOT NULL, 
	person INTEGER NOT NULL, 
	"plan" TEXT NOT NULL, 
	documents TEXT NOT NULL, 
	changed BIGINT NOT NULL, 
	CONSTRAINT pk_draft PRIMARY KEY (id), 
	CONSTRAINT fk_draft_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	person INTEGER, 
	campaign INTEGER, 
	what TEXT NOT NULL, 
	details TEXT NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (id), 
	CONSTRAINT fk_event_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT fk_event_person FOREIGN KEY(person) REFERENCES person (id)
);
INSERT INTO "event" VALUES(1,1772355600000000,NULL,NULL,'person added','{"name":"Mori","role":"manager"}');
INSERT INTO "event" VALUES(2,1772355600000000,NULL,NULL,'person added','{"name":"Ada","role":"annotator"}');
INSERT INTO "event" VALUES(3,1772355600000000,NULL,NULL,'person added','{"name":"健","role":"annotator"}');
INSERT INTO "event" VALUES(4,1772355600000000,NULL,1,'campaign created','{"plan":{"name":"chat","scheme":"breakdown"}}');
INSERT INTO "event" VALUES(5,1772355600000000,NULL,1,'documents added','{"documents":2,"units":4}');
INSERT INTO "event" VALUES(6,1772355600000000,2,1,'units handed out','{"units":[3,4]}');
INSERT INTO "event" VALUES(7,1772355600000000,3,1,'units handed out','{"units":[1,2]}');
INSERT INTO "event" VALUES(8,1772355600000000,1,1,'message sent','{"person":null}');
INSERT INTO "event" VALUES(9,1772355600000000,NULL,2,'campaign created','{"plan":{"name":"old","scheme":"breakdown"}}');
INSERT INTO "event" VALUES(10,1772355600000000,NULL,NULL,'token added','{"name":"Ada","token":"script"}');
CREATE TABLE expected (
	campaign INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	block TEXT NOT NULL, 
	answers TEXT NOT NULL, 
	feedback TEXT NOT NULL, 
	CONSTRAINT pk_expected PRIMARY KEY (campaign, unit), 
	CONSTRAINT fk_expected_campaign_unit FOREIGN KEY(campaign, unit) REFERENCES unit (campaign, number)
);
CREATE TABLE figure_block (
	campaign INTEGER NOT NULL, 
	document INTEGER NOT NULL, 
	content TEXT NOT NULL, 
	CONSTRAINT pk_figure_block PRIMARY KEY (campaign, document), 
	CONSTRAINT fk_figure_block_campaign_document FOREIGN KEY(campaign, document) REFERENCES campaign_document (campaign, position)
);
CREATE TABLE figure_change (
	id INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	documents TEXT NOT NULL, 
	CONSTRAINT pk_figure_change PRIMARY KEY (id)
);
INSERT INTO "figure_change" VALUES(1,1,'[2]');
INSERT INTO "figure_change" VALUES(2,1,'[2]');
INSERT INTO "figure_change" VALUES(3,1,'[1]');
INSERT INTO "figure_change" VALUES(4,1,'[1]');
CREATE TABLE figure_day (
	campaign INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	judgments INTEGER NOT NULL, 
	milliseconds BIGINT NOT NULL, 
	CONSTRAINT pk_figure_day PRIMARY KEY (campaign, person, day), 
	CONSTRAINT fk_figure_day_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT fk_figure_day_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE TABLE figure_pattern (
	campaign INTEGER NOT NULL, 
	question TEXT NOT NULL, 
	system TEXT NOT NULL, 
	pattern TEXT NOT NULL, 
	times INTEGER NOT NULL, 
	CONSTRAINT pk_figure_pattern PRIMARY KEY (campaign, question, system, pattern), 
	CONSTRAINT fk_figure_pattern_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE TABLE figure_state (
	campaign INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_figure_state PRIMARY KEY (campaign), 
	CONSTRAINT fk_figure_state_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE TABLE flag (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	campaign INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	settled BIGINT, seen INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_flag PRIMARY KEY (id), 
	CONSTRAINT fk_flag_campaign_unit FOREIGN KEY(campaign, unit) REFERENCES unit (campaign, number), 
	CONSTRAINT fk_flag_person FOREIGN KEY(person) REFERENCES person (id), 
	CONSTRAINT uq_flag_key UNIQUE ("key")
);
INSERT INTO "flag" VALUES(1,'flag-1',1,1,2,'Is this one right?',1772355600000000,NULL,0);
CREATE TABLE flag_reply (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	flag INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_flag_reply PRIMARY KEY (id), 
	CONSTRAINT fk_flag_reply_flag FOREIGN KEY(flag) REFERENCES flag (id), 
	CONSTRAINT fk_flag_reply_person FOREIGN KEY(person) REFERENCES person (id), 
	CONSTRAINT uq_flag_reply_key UNIQUE ("key")
);
INSERT INTO "flag_reply" VALUES(1,'reply-1',1,1,'Yes: 大丈夫です。',1772355600000000);
CREATE TABLE gold (
	id INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	person INTEGER, 
	at BIGINT NOT NULL, 
	method TEXT NOT NULL, 
	signatures TEXT NOT NULL, 
	units INTEGER NOT NULL, 
	decided INTEGER NOT NULL, 
	content TEXT NOT NULL, 
	CONSTRAINT pk_gold PRIMARY KEY (id), 
	CONSTRAINT fk_gold_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT fk_gold_person FOREIGN KEY(person) REFERENCES person (id)
);
CREATE TABLE identity (
	issuer TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	person INTEGER NOT NULL, 
	CONSTRAINT pk_identity PRIMARY KEY (issuer, subject), 
	CONSTRAINT fk_identity_person FOREIGN KEY(person) REFERENCES person (id)
);
INSERT INTO "identity" VALUES('https://login.example.org','ken',3);
CREATE TABLE invitation (
	id INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	role TEXT NOT NULL, 
	campaign INTEGER, 
	uses_left INTEGER, 
	created BIGINT NOT NULL, 
	expires BIGINT NOT NULL, 
	CONSTRAINT pk_invitation PRIMARY KEY (id), 
	CONSTRAINT fk_invitation_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT uq_invitation_hash UNIQUE (hash)
);
CREATE TABLE judgment (
	campaign INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	version TEXT NOT NULL, 
	submitted BOOLEAN NOT NULL, 
	answers TEXT NOT NULL, 
	more TEXT, 
	given_at BIGINT, 
	stored_at BIGINT NOT NULL, 
	seconds FLOAT, 
	client TEXT NOT NULL, 
	CONSTRAINT pk_judgment PRIMARY KEY (campaign, unit, person, revision), 
	CONSTRAINT fk_judgment_campaign_unit_person FOREIGN KEY(campaign, unit, person) REFERENCES assignment (campaign, unit, person), 
	CONSTRAINT uq_judgment_key UNIQUE ("key")
);
INSERT INTO "judgment" VALUES(1,3,2,1,'key-0','1.0',1,'{"breakdown":"O"}',NULL,1772355600000000,1772355600000000,NULL,'');
INSERT INTO "judgment" VALUES(1,4,2,1,'key-1','1.0',1,'{"breakdown":"O"}',NULL,1772355600000000,1772355600000000,NULL,'');
INSERT INTO "judgment" VALUES(1,1,3,1,'key-2','1.0',1,'{"breakdown":"X"}',NULL,1772355600000000,1772355600000000,NULL,'');
INSERT INTO "judgment" VALUES(1,2,3,1,'key-3','1.0',1,'{"breakdown":"X"}',NULL,1772355600000000,1772355600000000,NULL,'');
CREATE TABLE learned_document (
	campaign INTEGER NOT NULL, 
	document INTEGER NOT NULL, 
	doubt FLOAT NOT NULL, 
	CONSTRAINT pk_learned_document PRIMARY KEY (campaign, document), 
	CONSTRAINT fk_learned_document_campaign_document FOREIGN KEY(campaign, document) REFERENCES campaign_document (campaign, position)
);
CREATE TABLE learned_unit (
	campaign INTEGER NOT NULL, 
	unit INTEGER NOT NULL, 
	answers TEXT NOT NULL, 
	shown BOOLEAN NOT NULL, 
	CONSTRAINT pk_learned_unit PRIMARY KEY (campaign, unit), 
	CONSTRAINT fk_learned_unit_campaign_unit FOREIGN KEY(campaign, unit) REFERENCES unit (campaign, number)
);
CREATE TABLE learning (
	campaign INTEGER NOT NULL, 
	next_at INTEGER, 
	holder TEXT, 
	until BIGINT, 
	doing TEXT DEFAULT '' NOT NULL, 
	rest BOOLEAN DEFAULT 0 NOT NULL, 
	trouble TEXT, 
	curve TEXT DEFAULT '[]' NOT NULL, 
	model TEXT, 
	CONSTRAINT pk_learning PRIMARY KEY (campaign), 
	CONSTRAINT fk_learning_campaign FOREIGN KEY(campaign) REFERENCES campaign (id)
);
CREATE TABLE member (
	campaign INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	joined BIGINT NOT NULL, 
	until BIGINT, 
	submitted INTEGER NOT NULL, 
	drafts INTEGER NOT NULL, 
	held INTEGER NOT NULL, 
	seconds FLOAT NOT NULL, 
	last_at BIGINT, begun BIGINT, stopped BIGINT, seen INTEGER DEFAULT '0' NOT NULL, origin TEXT, stored BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_member PRIMARY KEY (campaign, person), 
	CONSTRAINT fk_member_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT fk_member_person FOREIGN KEY(person) REFERENCES person (id)
);
INSERT INTO "member" VALUES(1,2,1772355600000000,1772359200000000,2,0,0,0.0,1772355600000000,NULL,NULL,0,NULL,34);
INSERT INTO "member" VALUES(1,3,1772355600000000,1772359200000000,2,0,0,0.0,1772355600000000,NULL,NULL,0,NULL,34);
CREATE TABLE message (
	id INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	person INTEGER, 
	sender INTEGER, 
	text TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_message PRIMARY KEY (id), 
	CONSTRAINT fk_message_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT fk_message_person FOREIGN KEY(person) REFERENCES person (id), 
	CONSTRAINT fk_message_sender FOREIGN KEY(sender) REFERENCES person (id)
);
INSERT INTO "message" VALUES(1,1,NULL,1,'Thank you!',1772355600000000);
CREATE TABLE person (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	email TEXT, 
	role TEXT NOT NULL, 
	language TEXT, 
	password TEXT, 
	stamp TEXT NOT NULL, 
	created BIGINT NOT NULL, 
	disabled BIGINT, program BOOLEAN DEFAULT 0 NOT NULL, folded TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_person PRIMARY KEY (id), 
	CONSTRAINT uq_person_name UNIQUE (name)
);
INSERT INTO "person" VALUES(1,'Mori',NULL,'manager',NULL,'$argon2id$v=19$m=65536,t=3,p=4$rTnRe87mP1UO8GQ4Xb+oZA$83tmUrrKket4N1k+w+KWv35zsgK+2aN2wq0uiN8XXsw','U3Z7JmWZbVZ4LGWlu9q6Wx3YtFZU3m-lD3536yBSU_I',1772355600000000,NULL,0,'mori');
INSERT INTO "person" VALUES(2,'Ada',NULL,'annotator',NULL,'$argon2id$v=19$m=65536,t=3,p=4$YbkFSFdv5niZQzO+MLZJLA$HizjXggcuABcU4b/jIdeWYjDIRRwu8zwV5j3szhq+Zg','1RfCkVKcCoi7UZ-yLXhTdLbQj-eL73xoQ0AqqDYNT6I',1772355600000000,NULL,0,'ada');
INSERT INTO "person" VALUES(3,'健',NULL,'annotator','ja',NULL,'DXr3-x3VJrr3O61xOkUa1KM9HWK423V9jc5UGO1tbiU',1772355600000000,NULL,0,'健');
CREATE TABLE program_run (
	id INTEGER NOT NULL, 
	campaign INTEGER NOT NULL, 
	person INTEGER NOT NULL, 
	spec TEXT NOT NULL, 
	state TEXT NOT NULL, 
	note TEXT NOT NULL, 
	refused INTEGER NOT NULL, 
	added BIGINT NOT NULL, 
	worker TEXT, 
	until BIGINT, 
	CONSTRAINT pk_program_run PRIMARY KEY (id), 
	CONSTRAINT fk_program_run_campaign FOREIGN KEY(campaign) REFERENCES campaign (id), 
	CONSTRAINT fk_program_run_person FOREIGN KEY(person) REFERENCES person (id), 
	CONSTRAINT uq_program_run_campaign_person UNIQUE (campaign, person)
);
CREATE TABLE scheme (
	id TEXT NOT NULL, 
	version TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	content TEXT NOT NULL, 
	CONSTRAINT pk_scheme PRIMARY KEY (id, version)
);
INSERT INTO "scheme" VALUES('breakdown','1.0','87422cfe906766ee6a2525946a0e9e0c','{"scheme":"breakdown","version":"1.0","title":{"en":"Dialogue breakdown","ja":"対話破綻"},"summary":{"en":"You read a chat between a person and a system, one system turn at a time. For each of these turns you say how easily you could go on talking if you were the person in the chat. Many people judge the same turns, and all their answers together show where a system loses the people it talks to.","ja":"人とシステムの雑談を読み、システムの発話を一つずつ見ていきます。もし自分がその場で話していたら、その発話のあとに楽に話を続けられるかどうかを答えてください。同じ発話を大勢の人が判断し、その答えをまとめることで、システムがどこで相手を困らせているのかを調べます。"},"unit":{"role":"system"},"questions":[{"id":"breakdown","kind":"label","name":{"en":"Breakdown","ja":"破綻の度合い"},"ask":{"en":"If you were the one talking, how easily could you go on after this turn?","ja":"もしあなたが話している本人なら、この発話のあと、どのくらい楽に話を続けられますか。"},"notes":{"en":["Look only at this turn and at what came before it.","Judge how easy it is to go on, not what happened later in the chat.","Choose exactly one of the three. Between two labels, take the one closer to your first feeling.","Some data use a circle, a triangle and a cross as labels. Here they are written O, T (as in triangle) and X. In Japan a triangle commonly stands for something in between."],"ja":["見るのは、この発話と、それより前のやり取りだけです。","後で実際に何が起きたかではなく、続けやすさを判断してください。","三つのうち必ず一つを選びます。二つの間で迷ったら、最初の感覚に近いほうにしてください。","データによってはラベルが丸・三角・ばつの記号で書かれています。O・T・Xはその代わりの文字で、Tはtriangle（三角）の頭文字です。"]},"labels":[{"id":"O","name":{"en":"Not a breakdown","ja":"破綻ではない"},"definition":{"en":"You could go on without effort. The turn gives you something to answer, or at least nothing stands in your way.","ja":"無理なく次の言葉が出てくる発話です。返す手がかりがあるか、少なくとも引っかかるところがありません。"},"aliases":["NB","○","〇","Not a breakdown","破綻ではない"],"key":"1","notes":{"en":["The turn need not be clever, lively or perfectly worded. A short or plain reply is enough.","Small slips of wording that you read past without a thought belong here.","A change of subject is fine where it is announced or feels natural."],"ja":["気の利いた返事である必要はありません。短くても、ありきたりでも十分です。","読み流せる程度の言い回しの乱れは、ここに入れてください。","話題が変わっても、前置きがあったり流れが自然だったりすれば問題ありません。"]},"examples":{"en":[{"why":"The question picks up what was said and is easy to answer.","turns":["S: Hello! What have you been up to today?","U: I planted tomatoes on the balcony.","S: Lovely. Is this your first time growing them?"],"fits":true},{"why":"No question this time, but the friendly remark leaves plenty of room to carry on.","turns":["U: My sister is coming to stay for a week.","S: That will be nice. Do you two get on well?","U: Most of the time, yes.","S: Ha, most of the time is pretty good for sisters."],"fits":true},{"why":"The subject changes, but the turn says so and asks something simple.","turns":["U: I don''t care for coffee, it keeps me awake.","S: I see. By the way, may I ask about your weekend?"],"fits":true},{"why":"A first turn with nothing before it; anyone would know how to reply.","turns":["S: Hi there. Shall we have a chat?"],"fits":true},{"why":"There is a slip of grammar, but one reads past it and can simply agree.","turns":["U: I took the early train up to the lake.","S: The early train are so quiet, aren''t they?"],"fits":true},{"why":"It is near the subject but leaves the question open, so most people would hesitate: T fits better.","turns":["U: What time do you usually get up?","S: Breakfast is an important meal."],"fits":false},{"why":"The reply turns the sense upside down and leaves one with nothing to say: closer to X.","turns":["U: I lost my keys this morning.","S: Congratulations, you must be proud."],"fits":false}],"ja":[{"why":"相手の話を受けて、答えやすい質問を返しています。","turns":["S: こんにちは。今日はどんな一日でしたか？","U: 久しぶりに部屋の模様替えをしました","S: いいですね。気分も変わりそうです。大変でしたか？"],"fits":true},{"why":"質問はありませんが、うなずいて話を広げられます。","turns":["U: 最近、近所に小さなパン屋ができたんです","S: 焼きたての香りがすると、つい入ってしまいますよね"],"fits":true},{"why":"話題は変わりますが、「ところで」と断ってあり、すぐに答えられます。","turns":["U: 朝はいつもバタバタしてしまって","S: 分かります。ところで、お休みの日は何をして過ごしていますか？"],"fits":true},{"why":"最初の一言で前のやり取りはありませんが、誰でも気軽に返せます。","turns":["S: はじめまして。よかったら少しお話ししませんか？"],"fits":true},{"why":"助詞が少しおかしいものの、気にせず答えられる程度です。","turns":["U: 来月、友だちと温泉に行くんだ","S: えー温泉いいなあ、どこの行くの？"],"fits":true},{"why":"話題は合っていますが質問に答えておらず、少し返しにくいのでTが近いでしょう。","turns":["U: 犬と猫ならどっちを飼いたい？","S: 動物は人の心を和ませますね"],"fits":false},{"why":"相手の状況とまるで逆の反応で、返す言葉に詰まります。Xが近いでしょう。","turns":["U: 昨日から熱があって寝込んでいます","S: それは楽しみですね、ぜひ写真を見せてください"],"fits":false}]}},{"id":"T","name":{"en":"Possible breakdown","ja":"違和感あり"},"definition":{"en":"You could go on, but not smoothly. Something is off, and you would have to think, guess or politely ignore it before you speak.","ja":"話を続けられなくはないものの、すんなりとはいかない発話です。どこか引っかかり、考えたり察したり、聞き流したりしてから返すことになります。"},"aliases":["PB","△","Δ","Possible breakdown","違和感あり"],"key":"2","notes":{"en":["This is the middle: neither easy nor hopeless. You do find a way on, and you notice that you had to look for it.","If you would have to drop the subject and start anew, X is closer. If you noticed nothing until you looked twice, O is closer."],"ja":["楽ではないけれど手詰まりでもない、という中間です。続け方は見つかるものの、探す手間を感じるときに選びます。","話をいったん打ち切ってやり直すしかないならX、読み返して初めて気づく程度ならOのほうが近いでしょう。"]},"examples":{"en":[{"why":"True and on a word just used, but what is one to say to it? One can go on only by overlooking it.","turns":["S: Do you like board games?","U: Yes, we play every Friday with the neighbours.","S: Friday comes after Thursday."],"fits":true},{"why":"The question half ignores what was just said; one can answer it, with a slight frown.","turns":["U: I''m thinking of learning the cello.","S: Music is wonderful. What do you do in your free time?"],"fits":true},{"why":"It clashes with the first turn, yet one could ask about it and carry on.","turns":["S: I love walking by the sea.","U: Me too, above all in autumn.","S: I have never been to the sea, but it must be pretty."],"fits":true},{"why":"The subject is right and the answer is missing; one would have to ask again.","turns":["U: Which of the two films should I watch tonight?","S: Films are a good way to relax in the evening."],"fits":true},{"why":"Nothing gets in the way here; this is O.","turns":["S: What did you have for lunch?","U: Just a salad, it was too hot to eat.","S: Salad sounds fresh! Did you make it yourself?"],"fits":false},{"why":"No way on can be found at all; this is X.","turns":["U: Do you think it will snow?","S: The spoon is my uncle on the window of."],"fits":false}],"ja":[{"why":"間違ってはいませんが当たり前すぎて、何と返すか少し考えてしまいます。","turns":["S: 休みの日はよく出かけますか？","U: はい、先週は美術館に行きました","S: 美術館には絵があります"],"fits":true},{"why":"今まさに習っていると言ったばかりなのに尋ねられ、答えられはするものの引っかかります。","turns":["U: 最近、ギターを習い始めたんだ","S: いいですね。何か習い事に興味はありますか？"],"fits":true},{"why":"最初の発話と食い違っていますが、「あれ、お好きでは？」と聞けば話は続きます。","turns":["S: 辛いものには目がないんです","U: 私も大好きで、毎週カレーを食べています","S: 辛いのは苦手なので、甘口を選びますね"],"fits":true},{"why":"行ったかどうかの返事がなく、聞き直すか聞き流すかを考える必要があります。","turns":["U: 駅前のラーメン屋、もう行きましたか？","S: ラーメンは種類が多くて迷いますよね"],"fits":true},{"why":"引っかかるところがなく、すぐに答えられるのでOです。","turns":["U: 週末は雨らしいですね","S: そうみたいですね。おうちで過ごす予定ですか？"],"fits":false},{"why":"どう受け取っても続けようがないのでXです。","turns":["U: おすすめの本はある？","S: 本が昨日を三つ走るので冷蔵庫です"],"fits":false}]}},{"id":"X","name":{"en":"Breakdown","ja":"明らかな破綻"},"definition":{"en":"You could hardly go on. The turn makes no sense where it stands, or it shows that the system has lost the thread, so that you would have to stop, ask what it means, or begin again.","ja":"その先を続けるのが難しい発話です。その場では意味をなさない、あるいはまったく話が通じていないと分かるため、立ち止まって問い返すか、話を一からやり直すしかありません。"},"aliases":["B","×","✕","Breakdown","明らかな破綻"],"key":"3","notes":{"en":["The words themselves may be perfect English. What counts is whether you, in this place, could answer.","If a friendly reader could still find a natural next thing to say, T is closer.","That the person in the data did find something to say is no reason against X."],"ja":["文そのものはきれいな日本語でも構いません。この場で自分が返せるかどうかで決めてください。","好意的に読めば自然な返し方が見つかる、という程度ならTのほうが近いでしょう。","データの中の人が実際には何か返していたとしても、Xを避ける理由にはなりません。"]},"examples":{"en":[{"why":"It has nothing to do with the chat, and there is no booking to speak of.","turns":["U: My grandmother taught me to knit.","S: Please enter the number of your booking."],"fits":true},{"why":"The same question for the third time shows that no answer will get through.","turns":["S: Where would you like to travel?","U: Somewhere quiet, maybe an island.","S: Where would you like to travel?","U: An island, as I said.","S: Where would you like to travel?"],"fits":true},{"why":"The cheerful reply is so far from what was said that one would not want to go on.","turns":["U: Our old dog died last night.","S: Great, dogs are so much fun! Did he enjoy it?"],"fits":true},{"why":"The words form no sentence; there is nothing to answer.","turns":["U: Have you read anything good lately?","S: Yes the the is of which blue and."],"fits":true},{"why":"A weak answer, but one can ask again or tell one''s own plans: T.","turns":["U: Have you got any plans for the summer?","S: Summer is warm. I like summer."],"fits":false},{"why":"Easy to answer: O.","turns":["U: I burnt the rice again.","S: Oh no. Did you save any of it?"],"fits":false}],"ja":[{"why":"雑談の流れとまったく関係がなく、答えようがありません。","turns":["U: 子どもの頃は祖父の畑をよく手伝いました","S: ご注文の品はこちらの三点でよろしいですか？"],"fits":true},{"why":"三度も同じことを聞かれ、何を答えても伝わらないと分かります。","turns":["S: 好きな季節はいつですか？","U: 秋です。紅葉がきれいなので","S: 好きな季節はいつですか？","U: だから秋ですよ","S: 好きな季節はいつですか？"],"fits":true},{"why":"困っている人に対する返事になっておらず、話を続ける気になれません。","turns":["U: 実は昨日、財布を落としてしまって","S: 最高ですね！私も落としたいです"],"fits":true},{"why":"文の形をなしておらず、何を言いたいのか見当がつきません。","turns":["U: 夏休みはどこかへ行きますか？","S: 行くがを青いにの夏で"],"fits":true},{"why":"物足りない返事ですが、「そうなんですよ」と続けることはできるのでTが近いでしょう。","turns":["U: 最近よく眠れないんです","S: 睡眠は大事ですね"],"fits":false},{"why":"気づかいのある質問で、すぐに答えられるのでOです。","turns":["U: 新しい靴で出かけたら足が痛くなっちゃった","S: それはつらいですね。絆創膏は持っていましたか？"],"fits":false}]}}],"analysis":{"tie_break":["O","T","X"],"merged":[["T","X"]],"scores":["challenge"]}},{"id":"comment","kind":"text","name":{"en":"Comment","ja":"コメント"},"ask":{"en":"Is there anything you would like to add about this turn?","ja":"この発話について、書き添えておきたいことはありますか。"},"required":false,"notes":{"en":["You may leave this empty. A few words on what made you stop are welcome."],"ja":["空欄のままで構いません。どこで引っかかったかを一言書いていただけると助かります。"]}}],"source":{"en":"Follows the three labels from the first dialogue breakdown detection challenge (Higashinaka, Funakoshi, Kobayashi and Inaba, LREC 2016), as used in the error-type manual by Higashinaka, Araki, Tsukahara and Mizukami (version 1.2, 2021).","ja":"対話破綻検出チャレンジ（東中・船越・小林・稲葉、LREC 2016）の三つのラベルに従います。エラー類型アノテーションマニュアル（東中・荒木・塚原・水上、第1.2版、2021年）でも同じラベルが使われています。"},"background":[{"id":"what-is-a-breakdown","title":{"en":"What a breakdown is","ja":"破綻とは"},"text":{"en":"A chat breaks down when the person in it is left stuck: the last thing the system said gives them no good way to answer and move on.\n\nThe causes differ widely. The system may have misread what was said, chosen a reply that does not belong there, forgotten what it said itself, or produced words that mean nothing. You need not name the cause here. You only judge its effect: can one go on from here?","ja":"システムの一言のせいで、相手が「どう返せばいいのだろう」と行き詰まってしまうことを、ここでは破綻と呼びます。\n\nきっかけはさまざまです。こちらの話を取り違えた、場に合わない返事を選んだ、自分が前に言ったことを忘れている、そもそも意味の通らない言葉を出した、などが考えられます。ここでは原因に名前を付ける必要はありません。「この先、話を続けられそうか」という影響だけを見てください。"}},{"id":"the-chats","title":{"en":"The chats","ja":"対話の作られ方"},"text":{"en":"These are free chats without a task. The system speaks first, then person and system take turns. Every system turn is judged, the very first one included.\n\nThe people who talked to the system had been asked to carry on for a set number of turns, whatever it said. So a chat that runs on to its end may still have broken down on the way.","ja":"目的を決めない自由な雑談です。まずシステムが口を開き、そのあとは人とシステムが代わる代わる話します。判断するのはシステムの発話すべてで、いちばん初めの一言も含まれます。\n\n話し相手になった人には、何を言われても決まった回数までやり取りを続けるように頼んであります。ですから、最後まで続いた対話でも、途中で破綻していることがあります。"}},{"id":"how-to-judge","title":{"en":"How to judge","ja":"判断のしかた"},"text":{"en":"Put yourself in the chat. You are the one the system is talking to, and you have just read its turn.\n\n- Use only what came before this turn, and the turn itself. Do not look at what follows.\n- Ask how easy it would be for you to say the next thing. Do not guess what the person really did afterwards; that would be no better than tossing a coin.\n- Judge each turn afresh. If an earlier turn went wrong but this one is easy to answer, this one is fine.\n- A dull turn is not a breakdown. Neither is a turn you disagree with, as long as you would know how to reply.","ja":"自分がその場にいるつもりで読んでください。システムはあなたに話しかけていて、あなたは今その言葉を受け取ったところです。\n\n- 手がかりにするのは、それまでのやり取りと、いま見ている発話だけです。先のやり取りは読まないでください。\n- 考えるのは「自分なら次の一言を楽に言えるか」です。実際の話し手がそのあとどうしたかを当てる必要はありません。予想しようとしても、当てずっぽうと変わらなくなります。\n- 発話ごとに新しい気持ちで判断してください。前の発話がおかしくても、今の発話に答えやすければ問題ありません。\n- 面白みのない発話や、自分とは意見の違う発話も、返し方に困らないなら破綻ではありません。"}},{"id":"no-right-answer","title":{"en":"There is no right answer","ja":"正解はありません"},"text":{"en":"People differ a lot here, and that is expected. One person shrugs at an odd remark, another is thrown by it. So each turn is judged by many people, often about thirty, and both the most frequent answer and the whole spread of answers are used.\n\nPlease do not try to guess what the others will say. Your own impression is what is wanted. Take the first answer that feels right and move on.","ja":"この判断は人によって大きく分かれますが、それで構いません。妙な一言を笑って流せる人もいれば、そこで固まってしまう人もいます。そのため一つの発話を大勢（多くは30人ほど）で判断し、いちばん多かった答えだけでなく、答えの散らばり方もそのまま使います。\n\nほかの人に合わせようとせず、自分の感じたとおりに答えてください。深く悩まず、最初にしっくりきたものを選べば十分です。"}}]}');
CREATE TABLE setting (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_setting PRIMARY KEY ("key")
);
CREATE TABLE unit (
	campaign INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	document INTEGER NOT NULL, 
	segment TEXT NOT NULL, 
	active BOOLEAN NOT NULL, 
	taken INTEGER NOT NULL, 
	done INTEGER NOT NULL, wanted INTEGER DEFAULT '1' NOT NULL, 
	CONSTRAINT pk_unit PRIMARY KEY (campaign, number), 
	CONSTRAINT fk_unit_campaign_document FOREIGN KEY(campaign, document) REFERENCES campaign_document (campaign, position), 
	CONSTRAINT uq_unit_campaign_document_segment UNIQUE (campaign, document, segment)
);
INSERT INTO "unit" VALUES(1,1,1,'0',1,1,1,1);
INSERT INTO "unit" VALUES(1,2,1,'2',1,1,1,1);
INSERT INTO "unit" VALUES(1,3,2,'0',1,1,1,1);
INSERT INTO "unit" VALUES(1,4,2,'2',1,1,1,1);
CREATE INDEX ix_api_token_person ON api_token (person);
CREATE INDEX ix_campaign_source ON campaign (source);
CREATE INDEX ix_campaign_document_campaign_level_shuffle ON campaign_document (campaign, level, shuffle);
CREATE INDEX ix_member_campaign_until ON member (campaign, until);
CREATE INDEX ix_member_person ON member (person);
CREATE INDEX ix_assignment_campaign_person_state_document ON assignment (campaign, person, state, document);
CREATE INDEX ix_flag_campaign_unit ON flag (campaign, unit);
CREATE INDEX ix_event_campaign_id ON event (campaign, id);
CREATE INDEX ix_message_campaign_id ON message (campaign, id);
CREATE INDEX ix_decision_campaign_unit ON decision (campaign, unit);
CREATE INDEX ix_gold_campaign ON gold (campaign);
CREATE INDEX ix_challenge_run_challenge_id ON challenge_run (challenge, id);
CREATE INDEX ix_challenge_pair_challenge ON challenge_pair (challenge);
CREATE INDEX ix_person_folded ON person (folded);
CREATE INDEX ix_identity_person ON identity (person);
CREATE INDEX ix_program_run_state ON program_run (state);
CREATE INDEX ix_flag_person ON flag (person);
CREATE INDEX ix_flag_reply_flag ON flag_reply (flag);
COMMIT;
