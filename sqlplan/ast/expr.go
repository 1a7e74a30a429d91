package ast

// Expr is a scalar expression. The kinds are: NullLit, BoolLit, NumberLit,
// StringLit, BinaryLit, TypedLit, IntervalLit, Param, Column, Star, Field,
// Subscript, VariantPath, Paren, Unary, Binary, Between, In, Like, IsNull,
// IsBool, Case, Cast, Collate, Call, Lambda, Row, Alias, NamedArg, TableArg,
// Subquery, Exists, Default.
type Expr interface {
	Node
	expr()
}

// Param is a parameter marker: :name, or ? with its index from 0.
type Param struct {
	Pos
	Name  string // "" for ?
	Index int
}

// Column is a name that the binder resolves: a.b.c may be a column of a table
// or a field of a struct. Words such as current_date without parentheses come
// as Column too. With Name.Dynamic set it is IDENTIFIER(...).
type Column struct {
	Pos
	Name Name
}

// Star is * or t.* with an optional list of exceptions.
type Star struct {
	Pos
	Qualifier []Ident // t of t.*; nil for *
	Except    []Name
}

// Field is x.name, where x is no plain name.
type Field struct {
	Pos
	X    Expr
	Name Ident
}

// Subscript is x[i].
type Subscript struct {
	Pos
	X, Index Expr
}

// VariantPath is x:a.b[0]['c']: Path in the form of variant_get, "$.a.b[0]['c']".
type VariantPath struct {
	Pos
	X    Expr
	Path string
}

// Paren is an expression in parentheses. It means what X means.
type Paren struct {
	Pos
	X Expr
}

// Unparen drops the parentheses around an expression.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(*Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}

// Unary is an operator before an operand.
type Unary struct {
	Pos
	Op UnaryOp
	X  Expr
}

// UnaryOp is the operator of a Unary.
type UnaryOp uint8

// The unary operators.
const (
	Not    UnaryOp = iota // NOT x
	Minus                 // -x
	Plus                  // +x
	BitNot                // ~x
)

// Binary is an operator between two operands.
type Binary struct {
	Pos
	Op   BinaryOp
	L, R Expr
}

// BinaryOp is the operator of a Binary.
type BinaryOp uint8

// The binary operators.
const (
	Or BinaryOp = iota
	And
	Eq
	NullSafeEq // <=>
	NotEq
	Less
	LessEq
	Greater
	GreaterEq
	DistinctFrom    // IS DISTINCT FROM
	NotDistinctFrom // IS NOT DISTINCT FROM
	BitOr
	BitXor
	BitAnd
	ShiftLeft
	ShiftRight
	ShiftRightUnsigned
	Add
	Sub
	Concat // ||
	Mul
	Div    // /
	Mod    // %
	IntDiv // DIV
)

// Between is x [NOT] BETWEEN low AND high.
type Between struct {
	Pos
	X, Low, High Expr
	Not          bool
}

// In is x [NOT] IN (list) or x [NOT] IN (query). A tuple on the left is a Row.
type In struct {
	Pos
	X     Expr
	List  []Expr
	Query *Query // instead of List
	Not   bool
}

// LikeOp is the operator of a Like.
type LikeOp uint8

// The pattern operators.
const (
	LikeMatch LikeOp = iota
	ILikeMatch
	RLikeMatch // RLIKE, REGEXP
)

// Quantifier says how a list of patterns counts.
type Quantifier uint8

// The quantifiers.
const (
	NoQuantifier Quantifier = iota
	Any                     // ANY, SOME
	All
)

// Like is x [NOT] LIKE|ILIKE|RLIKE pattern, or LIKE|ILIKE ANY|ALL (patterns).
type Like struct {
	Pos
	Op         LikeOp
	X          Expr
	Patterns   []Expr // one without a quantifier
	Quantifier Quantifier
	Escape     Expr // a one-character StringLit or a Param, or nil
	Not        bool
}

// IsNull is x IS [NOT] NULL.
type IsNull struct {
	Pos
	X   Expr
	Not bool
}

// Truth is what IsBool asks for.
type Truth uint8

// The truth values.
const (
	True Truth = iota
	False
	Unknown
)

// IsBool is x IS [NOT] TRUE|FALSE|UNKNOWN.
type IsBool struct {
	Pos
	X     Expr
	Value Truth
	Not   bool
}

// When is one branch of a Case.
type When struct {
	Pos
	Cond, Then Expr
}

// Case is CASE [operand] WHEN ... END.
type Case struct {
	Pos
	Operand Expr // nil in the searched form
	Whens   []When
	Else    Expr // nil if absent
}

// Cast is CAST(x AS type), TRY_CAST(x AS type) or x::type.
type Cast struct {
	Pos
	X     Expr
	Type  TypeName
	Try   bool
	Colon bool // written ::
	Store bool // never written: the cast of an inserted value into its column
}

// Collate is x COLLATE name.
type Collate struct {
	Pos
	X    Expr
	Name Name
}

// Lambda is x -> body or (x, y) -> body.
type Lambda struct {
	Pos
	Params []Ident
	Body   Expr
}

// Row is (a, b): a struct made in place.
type Row struct {
	Pos
	Items []Expr
}

// Alias is expr AS name, or expr AS (a, b) for generators. It stands in select
// lists, grouping lists, aggregates of PIVOT and arguments of struct().
type Alias struct {
	Pos
	X     Expr
	Names []Ident
	List  bool // names were written in parentheses
}

// Subquery is a query as a scalar value.
type Subquery struct {
	Pos
	Query *Query
}

// Exists is EXISTS (query). NOT EXISTS is a Unary around it.
type Exists struct {
	Pos
	Query *Query
}

// Default is the word DEFAULT where a value of INSERT or SET VAR stands.
type Default struct{ Pos }

func (*NullLit) expr()     {}
func (*BoolLit) expr()     {}
func (*NumberLit) expr()   {}
func (*StringLit) expr()   {}
func (*BinaryLit) expr()   {}
func (*TypedLit) expr()    {}
func (*IntervalLit) expr() {}
func (*Param) expr()       {}
func (*Column) expr()      {}
func (*Star) expr()        {}
func (*Field) expr()       {}
func (*Subscript) expr()   {}
func (*VariantPath) expr() {}
func (*Paren) expr()       {}
func (*Unary) expr()       {}
func (*Binary) expr()      {}
func (*Between) expr()     {}
func (*In) expr()          {}
func (*Like) expr()        {}
func (*IsNull) expr()      {}
func (*IsBool) expr()      {}
func (*Case) expr()        {}
func (*Cast) expr()        {}
func (*Collate) expr()     {}
func (*Call) expr()        {}
func (*Lambda) expr()      {}
func (*Row) expr()         {}
func (*Alias) expr()       {}
func (*NamedArg) expr()    {}
func (*TableArg) expr()    {}
func (*Subquery) expr()    {}
func (*Exists) expr()      {}
func (*Default) expr()     {}
