"""Tables of a project file, version 1.0, and what migrations add."""

from __future__ import annotations

TABLES = (
    """
    CREATE TABLE project_setting (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    # `path` has forward slashes and starts at the project file's folder where it can; it is a BLOB where a
    # file name is no valid Unicode.
    """
    CREATE TABLE image (
        sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        media_type TEXT NOT NULL,
        byte_size INTEGER NOT NULL,
        notes TEXT NOT NULL DEFAULT '[]',
        storage TEXT NOT NULL CHECK (storage IN ('blob', 'folder', 'file')),
        path ANY CHECK ((path IS NOT NULL) = (storage = 'file'))
    ) STRICT
    """,
    # No foreign key: nothing about this table may ever need a change.
    """
    CREATE TABLE blob (
        sha256 TEXT PRIMARY KEY,
        bytes BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE thumbnail (
        sha256 TEXT PRIMARY KEY REFERENCES image (sha256) ON DELETE CASCADE,
        bytes BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE initial_image (
        name TEXT PRIMARY KEY,
        sha256 TEXT NOT NULL REFERENCES image (sha256),
        credit TEXT NOT NULL DEFAULT ''
    ) STRICT
    """,
    """
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL UNIQUE,
        initial_image TEXT NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        protocol TEXT NOT NULL,
        repeat INTEGER NOT NULL,
        branch TEXT NOT NULL,
        session_mode TEXT NOT NULL,
        seed INTEGER,
        settings TEXT NOT NULL,
        source TEXT UNIQUE,
        state TEXT NOT NULL CHECK (state IN ('planned', 'done', 'stopped', 'cancelled')),
        state_reason TEXT NOT NULL DEFAULT '',
        steps_planned INTEGER NOT NULL,
        created_at TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE step (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        number INTEGER NOT NULL CHECK (number >= 0),
        outcome TEXT NOT NULL CHECK (outcome IN ('initial', 'done', 'failed')),
        reason TEXT NOT NULL,
        image_sha256 TEXT REFERENCES image (sha256) CHECK ((image_sha256 IS NULL) = (outcome = 'failed')),
        prompt TEXT NOT NULL,
        reasoning TEXT NOT NULL,
        settings TEXT NOT NULL,
        sent_sha256 TEXT,
        declared_media_type TEXT,
        model_version TEXT,
        finish_reason TEXT,
        input_tokens INTEGER,
        output_tokens INTEGER,
        cost_usd REAL,
        seconds REAL,
        created_at TEXT NOT NULL,
        UNIQUE (run_id, number)
    ) STRICT
    """,
    # Lists of runs are answered from this index alone: the rows carry prompts and reasoning summaries.
    "CREATE INDEX step_summary ON step (run_id, number, outcome, image_sha256)",
    "CREATE INDEX step_image ON step (image_sha256, run_id, number)",
    """
    CREATE TABLE call (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        step INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        reason TEXT NOT NULL,
        input_tokens INTEGER,
        output_tokens INTEGER,
        cost_usd REAL,
        seconds REAL,
        created_at TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX call_run ON call (run_id)",
    """
    CREATE TABLE metric (
        key TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        low REAL NOT NULL,
        high REAL NOT NULL CHECK (high <> low),
        lower_is_better INTEGER NOT NULL CHECK (lower_is_better IN (0, 1))
    ) STRICT
    """,
    """
    CREATE TABLE score (
        image_sha256 TEXT NOT NULL REFERENCES image (sha256) ON DELETE CASCADE,
        metric TEXT NOT NULL REFERENCES metric (key),
        method_version TEXT NOT NULL,
        score REAL,
        error TEXT CHECK ((error IS NULL) = (score IS NOT NULL)),
        device TEXT NOT NULL,
        seconds REAL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (image_sha256, metric, method_version)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE failure_mode (
        key TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        level TEXT NOT NULL,
        definition TEXT NOT NULL,
        example TEXT NOT NULL,
        shortcut TEXT UNIQUE,
        parent TEXT REFERENCES failure_mode (key),
        position INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE tag (
        uuid TEXT PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        failure_mode TEXT NOT NULL REFERENCES failure_mode (key) ON UPDATE CASCADE,
        annotator TEXT NOT NULL,
        onset INTEGER NOT NULL CHECK (onset >= 1),
        end_step INTEGER CHECK (end_step >= onset),
        severity INTEGER NOT NULL CHECK (severity BETWEEN 1 AND 3),
        certainty REAL NOT NULL CHECK (certainty BETWEEN 0 AND 1),
        note TEXT NOT NULL,
        review_state TEXT NOT NULL CHECK (review_state IN ('draft', 'done', 'accepted', 'rejected')),
        created_at TEXT NOT NULL,
        modified_at TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX tag_run ON tag (run_id, onset)",
    # The log outlives what it tells of, so it names tags without a foreign key.
    """
    CREATE TABLE edit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        annotator TEXT NOT NULL,
        action TEXT NOT NULL CHECK (action IN ('add', 'change', 'remove', 'undo', 'redo')),
        tag_uuid TEXT NOT NULL,
        before TEXT,
        after TEXT,
        undoes INTEGER REFERENCES edit (id) CHECK ((undoes IS NULL) = (action NOT IN ('undo', 'redo')))
    ) STRICT
    """,
    "CREATE INDEX edit_annotator ON edit (annotator, id, action, undoes)",
    """
    CREATE TRIGGER edit_is_never_changed BEFORE UPDATE ON edit
    BEGIN SELECT RAISE(ABORT, 'the log of edits is append-only'); END
    """,
    """
    CREATE TRIGGER edit_is_never_removed BEFORE DELETE ON edit
    BEGIN SELECT RAISE(ABORT, 'the log of edits is append-only'); END
    """,
)

REPLY_TABLE = """
    CREATE TABLE reply (
        image_sha256 TEXT NOT NULL,
        metric TEXT NOT NULL,
        method_version TEXT NOT NULL,
        sample INTEGER NOT NULL CHECK (sample >= 1),
        text TEXT NOT NULL,
        PRIMARY KEY (image_sha256, metric, method_version, sample),
        FOREIGN KEY (image_sha256, metric, method_version) REFERENCES score ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
"""

REGION_TABLES = (
    # `points` is JSON: [[x, y], ...], in pixels of the upright picture of that step.
    """
    CREATE TABLE region (
        uuid TEXT PRIMARY KEY,
        tag_uuid TEXT NOT NULL REFERENCES tag (uuid) ON DELETE CASCADE,
        step INTEGER NOT NULL CHECK (step >= 0),
        kind TEXT NOT NULL CHECK (kind IN ('box', 'polygon')),
        points TEXT NOT NULL,
        created_at TEXT NOT NULL,
        modified_at TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX region_tag ON region (tag_uuid, step)",
)

# The last step at which a region holds; without one, until its tag's next outlined step.
REGION_END_COLUMN = "ALTER TABLE region ADD COLUMN end_step INTEGER CHECK (end_step >= step)"

# Of a run and a failure mode there is one suggestion, so that finding them again brings none twice.
SUGGESTION_TABLE = """
    CREATE TABLE suggestion (
        uuid TEXT PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        failure_mode TEXT NOT NULL REFERENCES failure_mode (key) ON UPDATE CASCADE,
        onset INTEGER NOT NULL CHECK (onset >= 1),
        figure REAL NOT NULL,
        reason TEXT NOT NULL,
        method TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'rejected')),
        annotator TEXT CHECK ((annotator IS NULL) = (state = 'open')),
        tag_uuid TEXT CHECK ((tag_uuid IS NOT NULL) = (state = 'accepted')),
        created_at TEXT NOT NULL,
        decided_at TEXT CHECK ((decided_at IS NULL) = (state = 'open')),
        UNIQUE (run_id, failure_mode)
    ) STRICT
"""

VERDICT_TABLE = """
    CREATE TABLE verdict (
        step_id INTEGER NOT NULL REFERENCES step (id) ON DELETE CASCADE,
        model TEXT NOT NULL,
        prompt_version TEXT NOT NULL,
        admits INTEGER NOT NULL CHECK (admits IN (0, 1)),
        model_version TEXT,
        created_at TEXT NOT NULL,
        PRIMARY KEY (step_id, model, prompt_version)
    ) STRICT, WITHOUT ROWID
"""

# A failure mode that was retired keeps its tags; `merged_into` names the mode that its tags went to.
FAILURE_MODE_COLUMNS = (
    "ALTER TABLE failure_mode ADD COLUMN retired INTEGER NOT NULL DEFAULT 0 CHECK (retired IN (0, 1))",
    "ALTER TABLE failure_mode ADD COLUMN merged_into TEXT REFERENCES failure_mode (key)",
    "ALTER TABLE failure_mode ADD COLUMN modified_at TEXT",
    """
    CREATE TABLE failure_mode_edit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        annotator TEXT NOT NULL,
        failure_mode TEXT NOT NULL,
        before TEXT,
        after TEXT NOT NULL
    ) STRICT
    """,
)

# Append-only: where an annotator's work on a run stands is what the last entry of the two says.
REVIEW_TABLES = (
    """
    CREATE TABLE review (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        annotator TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('draft', 'done', 'accepted', 'rejected')),
        said_by TEXT NOT NULL,
        comment TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX review_run ON review (run_id, annotator, at, id)",
    """
    CREATE TRIGGER review_is_never_changed BEFORE UPDATE ON review
    BEGIN SELECT RAISE(ABORT, 'reviews are append-only'); END
    """,
    """
    CREATE VIEW run_reviews AS
    SELECT run.id AS run_id, run.initial_image, run.model, run.protocol, run.repeat, annotator, review.state,
        said_by, comment, at,
        (SELECT count(*) FROM tag WHERE tag.run_id = run.id AND tag.annotator = review.annotator) AS tags
    FROM review
    JOIN run ON run.id = review.run_id
    WHERE NOT EXISTS (
        SELECT 1 FROM review AS later
        WHERE later.run_id = review.run_id AND later.annotator = review.annotator
            AND (later.at, later.id) > (review.at, review.id)
    )
    """,
    # How an annotator works: the seed of each queue, what is hidden.
    """
    CREATE TABLE annotator_setting (
        annotator TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (annotator, key)
    ) STRICT, WITHOUT ROWID
    """,
)

# Full text of reasoning summaries. Triggers note the steps that changed, in a table that older programs fill
# too; the index itself is written by `reasoning.take_in`, since a trigger of an untrusted file may not.
REASONING_TABLES = (
    """
    CREATE VIRTUAL TABLE reasoning_search USING fts5 (
        reasoning, tokenize = 'porter unicode61 remove_diacritics 2'
    )
    """,
    "CREATE TABLE reasoning_change (step_id INTEGER PRIMARY KEY) STRICT",
    """
    CREATE TRIGGER reasoning_added AFTER INSERT ON step WHEN new.reasoning <> ''
    BEGIN INSERT OR IGNORE INTO reasoning_change VALUES (new.id); END
    """,
    """
    CREATE TRIGGER reasoning_changed AFTER UPDATE OF id, reasoning ON step
    BEGIN INSERT OR IGNORE INTO reasoning_change VALUES (old.id), (new.id); END
    """,
    """
    CREATE TRIGGER reasoning_removed AFTER DELETE ON step WHEN old.reasoning <> ''
    BEGIN INSERT OR IGNORE INTO reasoning_change VALUES (old.id); END
    """,
    "INSERT INTO reasoning_change SELECT id FROM step WHERE reasoning <> ''",
)

# How a list of runs is looked at; `columns` and `facets` are JSON: a list, and an object of lists.
SAVED_VIEW_TABLE = """
    CREATE TABLE saved_view (
        name TEXT PRIMARY KEY,
        grouping TEXT NOT NULL,
        columns TEXT NOT NULL,
        sort TEXT NOT NULL,
        descending INTEGER NOT NULL CHECK (descending IN (0, 1)),
        filter TEXT NOT NULL,
        facets TEXT NOT NULL,
        created_at TEXT NOT NULL,
        modified_at TEXT NOT NULL
    ) STRICT
"""

# What judges were asked, word for word; a version changes with each word.
JUDGE_PROMPT_TABLE = "CREATE TABLE judge_prompt (version TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT"
