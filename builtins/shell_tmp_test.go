package builtins
import ("testing";"os";"bufio";"encoding/json";"fmt")
func TestTmpMore(t *testing.T){
 f,_:=os.Open("/tmp/more_cases.jsonl")
 sc:=bufio.NewScanner(f)
 n,bad:=0,0
 for sc.Scan(){ var c shellCase; json.Unmarshal(sc.Bytes(),&c); n++
  s:=ParseShell(c.Command,casePlace("/home/dev/project")); w:=worst(s)
  if (c.Expect=="deny")!=(w!=""){ bad++; fmt.Printf("WRONG %s %q -> %q unknown=%v\n",c.Expect,c.Command,w,s.Unknown); for _,e:=range s.Effects{fmt.Printf("      %+v\n",e)}; if os.Getenv("V")!="" {for _,x:=range s.Commands{fmt.Printf("      CMD %s %v via %v\n",x.Name,wordTexts(x.Argv),x.Via)}} }
 }
 fmt.Println(n,bad)
}
