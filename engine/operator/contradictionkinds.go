package operator

import "strings"

// kindSet are kinds of values that exclude each other.
type kindSet uint8

const (
	kindString kindSet = 1 << iota
	kindInteger
	kindFraction
	kindOther
	kindInstant
	kindMedia

	kindNumber  = kindInteger | kindFraction
	kindAnyText = kindNumber | kindOther | kindInstant | kindMedia
	kindAny     = kindSet(0xff)
)

// kindOf are the kinds of the values that satisfy an operator.
func (v *solver[T]) kindOf(a *atom) kindSet {
	ofNodes := v.domain.ofType("string") != nil
	switch a.operator {
	case "gt", "gte", "lt", "lte":
		return kindNumber
	case "before", "after":
		if !ofNodes {
			return kindInstant
		}
		return kindString
	case "mediaType":
		if !ofNodes {
			return kindMedia
		}
		return kindString
	case "contains", "startsWith", "endsWith", "matches", "search", "hasItem":
		switch {
		case ofNodes:
			return kindString
		case a.operator != "matches" && a.operator != "search" && strings.Trim(a.operand, "+-.0123456789eE") != "":
			return kindAnyText &^ kindNumber
		}
		return kindAnyText
	default:
		return kindAny
	}
}

// typeKind are the kinds of the values that have a type.
func typeKind(name string) kindSet {
	switch name {
	case "string":
		return kindString
	case "number":
		return kindNumber
	case "integer":
		return kindInteger
	default:
		return kindOther
	}
}

// kinded is an operator that wants values of some kinds.
type kinded struct {
	refusal
	kinds kindSet
}

// kinds finds operators that want values of different kinds.
func (v *solver[T]) kinds(same []*claim[T]) *Contradiction {
	var list []kinded
	for _, c := range same {
		for _, a := range c.atoms() {
			list = append(list, kinded{refusal{c.place(a.operator), a.operator, a.operand}, v.kindOf(&a)})
		}
	}
	for i := range v.clauses {
		if c := &v.clauses[i]; c.Type != nil {
			list = append(list, kinded{refusal{c.place("type"), "type", *c.Type}, typeKind(*c.Type)})
		}
	}
	for i := range list[:min(len(list), compared)] {
		for j := range i {
			a, b := &list[j], &list[i]
			if a.kinds&b.kinds == 0 || a.operator == "type" && b.operator == "type" && a.kinds == kindOther && a.operand != b.operand {
				return excludes(b.at, b.operator, b.operand, a.operator, a.operand)
			}
		}
	}
	return nil
}
