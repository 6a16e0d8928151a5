-- ann dsc_000000000000_ZcBcca3CzdH00oz2vQESbfWT5y-GNtactu8w2gP86XY
-- carla dsc_000000000001_P1vL5n2N3HqpAKZE1ezWDK-sL-_dYxORX3W6OpxiKSc
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, allotment TEXT, made TEXT NOT NULL DEFAULT (datetime('now'))
);
INSERT INTO tokens (id, hash, name, role, allotment, made) VALUES ('000000000000', x'73fc60c27bf9c76ac6a63af041c82b1be359745059273761e7b4ce276d8a48a8', 'ann', 'analyst', 'team', '2026-01-01 10:00:00');
INSERT INTO tokens (id, hash, name, role, allotment, made) VALUES ('000000000001', x'206c5bac241ff96ccbb9f0982147d65a816f4a46e2733945495be171c86e670f', 'carla', 'custodian', NULL, '2026-01-02 10:00:00');
