ATTACH DATABASE ':memory:' AS "it's";

CREATE TABLE "it's"."dead :order" (
    "select" INTEGER PRIMARY KEY,
    "group" TEXT NOT NULL,
    "Attempt" INTEGER NOT NULL DEFAULT 1,
    "not :before" TEXT,
    "say ""when""" TEXT,
    "it's" TEXT,
    "a::b" BLOB NOT NULL,
    "from" TEXT
);
