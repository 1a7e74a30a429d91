package parse

// keywords are the words for which an error says that quoting helps. All of
// them may still be names where the grammar leaves no doubt.
var keywords = set("ALL ALTER AND ANTI ANY AS ASC BETWEEN BY CASE CAST CREATE CROSS CUBE CURRENT DEFAULT DELETE DESC " +
	"DESCRIBE DISTINCT DROP ELSE END ESCAPE EXCEPT EXISTS EXPLAIN FALSE FETCH FILTER FOR FROM FULL FUNCTION GRANT GROUP " +
	"GROUPING HAVING IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT MERGE MINUS NATURAL NOT " +
	"NULL OF OFFSET ON OR ORDER OUTER OVER OVERLAPS PARTITION PIVOT QUALIFY RIGHT ROLLUP ROW ROWS SELECT SEMI SET SOME " +
	"TABLE TABLESAMPLE THEN TO TRUE UNION UNIQUE UNPIVOT UPDATE USER USING VALUES WHEN WHERE WINDOW WITH")

// joinWords are names but no table aliases unless quoted (Spark's
// "strict non-reserved" words).
var joinWords = set("ANTI CROSS EXCEPT FULL INNER INTERSECT JOIN LATERAL LEFT NATURAL ON RIGHT SEMI MINUS UNION USING")

// noAlias are words that go on with the query after an expression or relation,
// so they are no alias without AS.
var noAlias = set("FROM WHERE HAVING ON USING AS AND OR WHEN THEN ELSE END SELECT UNION EXCEPT MINUS INTERSECT " +
	"JOIN INNER CROSS LEFT RIGHT FULL NATURAL SEMI ANTI LATERAL IN NOT IS LIKE ILIKE RLIKE REGEXP BETWEEN ESCAPE " +
	"QUALIFY TABLESAMPLE PIVOT UNPIVOT INTO WITH BY SET")

// noOperand are words at which no operand starts unless what follows leaves no
// doubt.
var noOperand = set("FROM WHERE HAVING ON USING AS AND OR WHEN THEN ELSE SELECT UNION EXCEPT MINUS INTERSECT " +
	"JOIN INNER CROSS NATURAL IN IS LIKE ILIKE RLIKE REGEXP BETWEEN BY INTO")

// softOperand are words of noOperand that are taken as names before a comma, a
// closing parenthesis, FROM and AS.
var softOperand = set("ON USING JOIN INNER CROSS NATURAL IN IS LIKE ILIKE RLIKE REGEXP BETWEEN BY INTO")

func set(words string) map[string]bool {
	m := map[string]bool{}
	start := 0
	for i := 0; i <= len(words); i++ {
		if i == len(words) || words[i] == ' ' {
			if i > start {
				m[words[start:i]] = true
			}
			start = i + 1
		}
	}
	return m
}

// isIdent reports whether the current token can be a name at all.
func (p *parser) isIdent() bool {
	k := p.tok().kind
	return k == word || k == quoted
}

// aliasAhead reports whether the current token is an alias written without AS.
// table is true for aliases of relations.
func (p *parser) aliasAhead(table bool) bool {
	t, next := p.tok(), p.at(1)
	switch {
	case p.i >= p.end || t.kind != word:
		return t.kind == quoted && p.i < p.end
	case table && joinWords[t.up]:
		return false
	case noAlias[t.up]:
		return false
	}
	if table && p.cdcSourcing && cdcClause(t, next) {
		return false
	}
	switch t.up {
	case "GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "PARTITION":
		return !next.isWord("BY")
	case "LIMIT", "OFFSET":
		return next.isOp(",") || next.isOp(")") || next.isWord("FROM")
	case "WINDOW":
		return !(next.kind == word || next.kind == quoted) || !p.at(2).isWord("AS")
	case "WATERMARK":
		return next.kind == op || next.kind == eof
	case "APPROX", "EXACT":
		return !table || !next.isWord("NEAREST")
	case "FOR":
		return !table || next.kind == op || next.kind == eof
	case "GROUPING":
		return !next.isWord("SETS")
	}
	return true
}

// cdcClause reports whether a clause of AUTO CDC starts with the two tokens.
func cdcClause(t, next token) bool {
	switch t.up {
	case "KEYS":
		return next.isOp("(")
	case "IGNORE":
		return next.isWord("NULL")
	case "APPLY", "STORED":
		return next.isWord("AS")
	case "DELETE", "TRUNCATE":
		return next.isWord("WHEN")
	case "SEQUENCE":
		return next.isWord("BY")
	case "COLUMNS":
		return next.kind == word || next.kind == quoted || next.isOp("*") || next.isOp("(")
	case "TRACK":
		return next.isWord("HISTORY")
	}
	return false
}

// operandAhead reports whether the current word may start an operand as a name.
func (p *parser) operandAhead() bool {
	t, next := p.tok(), p.at(1)
	if t.kind != word || !noOperand[t.up] {
		return true
	}
	if t.up == "FROM" && p.i > 0 && p.toks[p.i-1].isWord("SELECT") {
		return true // SELECT FROM t: a select list cannot be empty
	}
	if softOperand[t.up] && (next.isOp(",") || next.isOp(")") || next.isWord("FROM") || next.isWord("AS")) {
		return true
	}
	// A word such as "on" may still be a column: t.on = 1, on.x, on + 1.
	switch {
	case next.isOp("."), next.isOp("="), next.isOp("->"):
		return true
	case t.up == "LEFT" || t.up == "RIGHT":
		return true
	}
	return false
}
