"""The budget: durable charges before any data is read, and the one door behind which data is read.

`budget` says what may be spent, `record` what was; `store` keeps records (SQLite, PostgreSQL); `ledger` joins them;
`anchor` notices a ledger restored from an old copy; `verification` checks it all again from the records; `door` is the
only place that opens private data; `export` hands the books to people; `cover` and `totals` are checks
of every charge; `stream_state` is what streams remember of people.
"""
