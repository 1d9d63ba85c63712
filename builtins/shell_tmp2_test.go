package builtins
import ("testing";"os";"fmt")
func TestTmpOne(t *testing.T){
  s:=ParseShell(os.Getenv("LINE"),casePlace("/home/dev/project"))
  for _,x:=range s.Commands{fmt.Printf("CMD %s %q in %s via %v dyn=%v pipe=%d/%d flags=%v\n",x.Name,wordTexts(x.Argv),x.Dir,x.Via,x.Dynamic,x.Pipe,x.Stage,x.Flags)}
  for _,e:=range s.Effects{fmt.Printf("  %+v\n",e)}
  fmt.Println("unknown",s.Unknown,"dynamic",s.Dynamic)
}
