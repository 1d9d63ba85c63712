package losses

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSQL: statements that lose data are found, and text is not.
func TestSQL(t *testing.T) {
	for text, want := range map[string][]Loss{
		"drop table if exists a.b;":                                  {{"drop-table", "a.b"}},
		"select 'drop table a'; -- drop table b\n/* drop table c */": nil,
		"DELETE FROM a": {{"delete-rows", "a"}}, "delete from a where id = 1": nil, "delete from a where 1=1": {{"delete-rows", "a"}}, "delete from a where true": {{"delete-rows", "a"}},
		"update a set b = 1": {{"update-rows", "a"}}, "update a set b = 1 where c": nil, "alter table a drop column b": {{"drop-column", "B"}}, "truncate a, b": {{"truncate-table", "a"}},
		"with x as (select 1) delete from a": {{"delete-rows", "a"}}, "drop index i; drop view v": nil, `drop schema "S" cascade`: {{"drop-schema", "s"}}, "select 'it''s'; drop database d": {{"drop-database", "d"}},
		"": nil, "'": nil, "/*": nil, "drop": nil,
	} {
		assert.Equal(t, want, SQL(text), text)
	}
}
