-- ann dsc_000000000000_sdrudEj9ROD3fVlrgIdu3A-ujDz7rUXlYl0Qrv9NLjM
-- carla dsc_000000000001_2WWBX4dO0Z7b4qK4ukp3UFIkvwCSZoylkdDXX4UKRHE
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, allotment TEXT,
    made TEXT NOT NULL DEFAULT (datetime('now')), used TEXT
);
INSERT INTO tokens (id, hash, name, role, allotment, made) VALUES ('000000000000', x'b1e5de94564ff0bd741ea048eb2dc5ee9e8cc0d4586d01a9b854b28186562c1a', 'ann', 'analyst', 'team', '2026-01-01 10:00:00');
INSERT INTO tokens (id, hash, name, role, allotment, made) VALUES ('000000000001', x'dff459bff128264c2f844f45d3e14fc0f80891265eeec3f35065857f4bf705c6', 'carla', 'custodian', NULL, '2026-01-02 10:00:00');
