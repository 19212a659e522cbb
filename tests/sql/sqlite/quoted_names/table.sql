ATTACH DATABASE ':memory:' AS "my ""queue""";

CREATE TABLE "my ""queue"""."order" (
    "select" INTEGER PRIMARY KEY,
    "group" TEXT NOT NULL,
    "Attempt" INTEGER NOT NULL DEFAULT 1,
    "not :before" TEXT,
    "say ""when""" TEXT,
    "it's" TEXT,
    "a::b" BLOB NOT NULL,
    "from" TEXT
);

CREATE INDEX "my ""queue"""."it's ready" ON "order"
    ("group", coalesce("not :before", ''), "select");
