-- The id of this installation, drawn once: two databases may share one account at a provider.
INSERT INTO {p}meta (name, value) VALUES ('installation', replace(CAST(gen_random_uuid() AS text), '-', ''))
ON CONFLICT (name) DO NOTHING;

-- What all of the above amounts to; written last, so that whatever is left half done is done again.
INSERT INTO {p}meta (name, value) VALUES ('part:core', '1')
ON CONFLICT (name) DO NOTHING;
