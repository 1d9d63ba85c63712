package builtins
import ("testing";"strings")
func BenchmarkTmpAnds(b *testing.B){ l:=strings.Repeat("a&&",43000)+"a"; for b.Loop(){ ParseShell(l,casePlace("/x")) } }
