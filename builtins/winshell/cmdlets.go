package winshell

import (
	"slices"
	"strings"
	"sync"
)

// cmdlet is what a command of PowerShell is in the POSIX shell.
type cmdlet struct {
	name string
	// params are its parameters: + stands before those that also take a value
	// by their place, - before those that take none, and a=b is a second name.
	params string
	// form is the code: {x} is the value of a parameter, {x?text} text where it
	// is given, {x!text} where it is not, {x:text} text and the value where it is
	// given. A form that begins with ^ takes its operand from a pipe where there is
	// none, one that begins with < prints the parameter value into it.
	form string
}

const (
	pathParams = "+path literalpath=path lp=path pspath=path filter include exclude stream encoding credential -recurse -force -r=recurse "
	webParams  = "+uri method outfile infile body headers form useragent contenttype timeoutsec maximumredirection proxy sessionvariable websession credential " +
		"authentication token certificate -usebasicparsing -useb=usebasicparsing -passthru -skipcertificatecheck -usedefaultcredentials -resume "
)

// cmdletTable is a cmdlet a line: its names, its parameters, its form.
const cmdletTable = `
remove-item ri rm del erase rd rmdir|` + pathParams + `|^rm {recurse?-r} {force?-f} -- {path}
remove-itemproperty rp clear-item cli clear-itemproperty clp|` + pathParams + `name|^rm -f -- {path}
clear-recyclebin|driveletter -force|rm -rf ~/.local/share/Trash
get-childitem gci ls dir|` + pathParams + `depth name -directory -file -hidden -attributes|find {path} {recurse!-maxdepth} {recurse!1} {filter:-name} {include:-name}
get-content gc cat type|` + pathParams + `totalcount=tail tail head=tail readcount delimiter -raw -wait|^cat -- {path}
set-content sc add-content ac|+path literalpath=path +value encoding stream filter include exclude -force -nonewline -passthru -append|<tee -- {path}
out-file|+filepath literalpath=filepath path=filepath inputobject encoding width -append -force -nonewline -noclobber|tee -- {filepath}
export-csv epcsv export-clixml|+path literalpath=path delimiter encoding depth -notypeinformation -append -force|tee -- {path}
tee-object tee|+filepath literalpath=filepath variable inputobject -append|tee -- {filepath}
clear-content clc|` + pathParams + `|truncate -s 0 -- {path}
new-item ni|+path name itemtype=type type value target=value -force|<touch -- {path}{name:/}
mkdir md|+path name -force|mkdir -p -- {path}
set-item si|+path +value literalpath=path -force|<tee -- {path}
set-itemproperty sp new-itemproperty|+path +name +value literalpath=path propertytype=type type -force|tee -- {path}
copy-item cpi cp copy|+path +destination literalpath=path filter include exclude tosession fromsession container -recurse -force -passthru|^cp {recurse?-r} -- {path} {destination}
move-item mi mv move|+path +destination literalpath=path filter include exclude -force -passthru|^mv -- {path} {destination}
rename-item rni ren|+path +newname literalpath=path -force -passthru|^mv -- {path} {newname}
set-location sl cd chdir|+path literalpath=path stackname -passthru|cd {path}
push-location pushd|+path literalpath=path stackname -passthru|pushd {path}
pop-location popd|stackname -passthru|popd
write-output echo write write-host write-error write-warning write-verbose write-information|++object foregroundcolor backgroundcolor separator -nonewline -noenumerate|echo {object}
invoke-webrequest iwr curl wget|` + webParams + `|curl {method:-X} {outfile:-o} {infile:-T} {body:-d} {form:-F} {headers:-H} {uri}
invoke-restmethod irm|` + webParams + `|curl {method:-X} {outfile:-o} {infile:-T} {body:-d} {form:-F} {headers:-H} {uri}
start-bitstransfer|+source +destination description priority -asynchronous|curl -o {destination} {source}
send-mailmessage|to from +subject body attachments smtpserver port cc bcc credential -usessl|curl {body:-d} {attachments:-T} smtp://mail.invalid
invoke-expression iex|+command|invoke-expression {command}
start-process saps start|+filepath +argumentlist=args args verb workingdirectory windowstyle redirectstandardoutput redirectstandarderror credential -wait -nonewwindow -passthru|start
stop-process spps kill|+id name processname=name inputobject -force -passthru|pkill {name} {id}
stop-service spsv|+name displayname=name inputobject -force -passthru -nowait|systemctl stop {name}
remove-service|+name inputobject -force|sc-delete {name}
set-service|+name startuptype status displayname description -force|service-set {name} {startuptype} {status}
restart-computer|computername credential -force -wait|reboot
stop-computer|computername credential -force|poweroff
format-volume|driveletter path filesystem newfilesystemlabel -force -full|wipefs -a /dev/{driveletter}{path}
clear-disk|+number uniqueid friendlyname -removedata -removeoem|wipefs -a /dev/disk{number}
initialize-disk set-disk|+number partitionstyle isoffline isreadonly|wipefs -a /dev/disk{number}
remove-partition|disknumber partitionnumber driveletter|wipefs -a /dev/{driveletter}{disknumber}
remove-localuser|+name|userdel {name}
disable-localuser new-localuser enable-localuser|+name password -nopassword|useradd -G x {name}
add-localgroupmember|+group +member|usermod -aG sudo {member}
set-netfirewallprofile|+name profile=name enabled all|firewall-profile {enabled}
remove-netfirewallrule disable-netfirewallrule disable-netadapter|+name displayname|ufw reset
set-executionpolicy|+executionpolicy +scope -force|execution-policy {executionpolicy} {scope}
set-mppreference|disablerealtimemonitoring disablebehaviormonitoring disableioavprotection disablescriptscanning exclusionpath|ufw disable
add-mppreference|exclusionpath exclusionprocess exclusionextension|ufw disable
clear-eventlog remove-eventlog|+logname|rm -rf /var/log/{logname}
unregister-scheduledtask disable-scheduledtask|+taskname taskpath|crontab -r
register-scheduledtask|+taskname action trigger settings user|crontab task
remove-computer|+name -force|userdel machine
disable-computerrestore checkpoint-computer|+drive|lvremove -f /dev/restore
compress-archive|+path +destinationpath literalpath=path compressionlevel -update -force|^zip -r {destinationpath} {path}
expand-archive|+path +destinationpath literalpath=path -force|unzip {path} {destinationpath:-d}
select-string sls|+pattern +path literalpath=path context include exclude encoding -simplematch -casesensitive -quiet -list -allmatches -notmatch|grep {quiet?-q} -e {pattern} {path}
join-path|+path +childpath +additional -resolve|printf '%s/%s' {path} {childpath}
split-path|+path literalpath=path -leaf -parent -qualifier -noqualifier -extension -leafbase|dirname {path}
get-item gi resolve-path rvpa convert-path get-itemproperty gp|+path literalpath=path +name -force -relative -stream|printf '%s\n' {path}
get-command gcm|+name commandtype|which {name}
set-variable sv new-variable nv|+name +value scope option -force|{name}={value}
invoke-sqlcmd|query inputfile serverinstance database username password connectionstring|sqlcmd {query:-Q} {inputfile:-i}
set-acl|+path +aclobject -passthru|chmod -R a+w {path}
out-null out-host out-string out-default format-table ft format-list fl format-wide fw select-object select sort-object sort measure-object measure group-object group get-unique gu convertto-json convertfrom-json convertto-csv convertfrom-csv convertto-html get-member gm|++a|cat
start-sleep sleep get-date get-random get-process ps gps get-service gsv get-help help man get-history history test-connection test-netconnection get-variable gv get-host get-culture read-host new-object new-guid get-credential test-path|++a|:
`

var cmdlets = sync.OnceValue(func() map[string]*cmdlet {
	out := map[string]*cmdlet{}
	for line := range strings.Lines(cmdletTable) {
		part := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if len(part) < 3 {
			continue
		}
		names := strings.Fields(part[0])
		c := &cmdlet{name: names[0], params: part[1], form: part[2]}
		for _, name := range names {
			if name != names[0] && strings.Contains(name, "-") {
				out[name] = &cmdlet{name: name, params: c.params, form: c.form}
				continue
			}
			out[name] = c
		}
	}
	return out
})

// other reports whether the arguments are not those of a cmdlet but of a program
// of the same name: curl -X POST, sort -u, sc.exe delete, rm -rf, rd /s /q.
func (c *cmdlet) other(args []argument) bool {
	switch c.name {
	case "invoke-webrequest", "sort-object", "start-process":
		return slices.ContainsFunc(args, func(a argument) bool {
			return a.name != "" && !c.knows(a.name) || strings.HasPrefix(text(a.words), "--")
		})
	case "set-content":
		return len(args) > 0 && slices.Contains([]string{"delete", "stop", "config", "create", "query", "start", "failure"}, strings.ToLower(text(args[0].words)))
	case "remove-item":
		return slices.ContainsFunc(args, func(a argument) bool {
			return a.name == "-rf" || a.name == "-fr" || len(text(a.words)) == 2 && text(a.words)[0] == '/'
		})
	}
	return false
}

func (c *cmdlet) knows(name string) bool {
	_, _, ok := param(c.params, strings.ToLower(name[1:]))
	return ok
}

// common are parameters that every cmdlet has.
const common = " erroraction ea=erroraction warningaction informationaction outvariable ov=outvariable errorvariable ev=errorvariable outbuffer pipelinevariable " +
	"-verbose -vb=verbose -debug -whatif -wi=whatif -confirm -cf=confirm"

// param finds a parameter by its name or the beginning of it: the name of its
// value, and whether it takes none.
func param(params, name string) (as string, alone, ok bool) {
	for _, exact := range []bool{true, false} {
		for p := range strings.FieldsSeq(params + common) {
			alone := p[0] == '-'
			p = strings.TrimLeft(p, "+-")
			full, as, second := strings.Cut(p, "=")
			if !second {
				as = full
			}
			if full == name || !exact && strings.HasPrefix(full, name) {
				return as, alone, true
			}
		}
	}
	return "", false, false
}

// bind gives the arguments to the parameters.
func bind(params string, args []argument) map[string][]word {
	out := map[string][]word{}
	var places []string
	for p := range strings.FieldsSeq(params) {
		if p[0] == '+' {
			places = append(places, p)
		}
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.name == "" {
			if len(places) == 0 {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimLeft(places[0], "+"), "=")
			name, _, _ = param(params, name)
			if _, given := out[name]; given && !strings.HasPrefix(places[0], "++") {
				places = places[1:]
				i--
				continue
			}
			out[name] = append(out[name], a.words...)
			if !strings.HasPrefix(places[0], "++") {
				places = places[1:]
			}
			continue
		}
		name, alone, ok := param(params, strings.ToLower(a.name[1:]))
		switch {
		case alone || !ok:
			if text(a.words) != "false" || len(a.words) == 0 {
				out[name] = []word{literal("true")}
			}
		case len(a.words) > 0:
			out[name] = append(out[name], a.words...)
		case i+1 < len(args) && args[i+1].name == "":
			i++
			out[name] = append(out[name], args[i].words...)
		}
	}
	return out
}

// cmdlet writes a command of the table.
func (r *reader) cmdlet(c *cmdlet, args []argument, piped *[]word) string {
	values := bind(c.params, args)
	if values["whatif"] != nil {
		return ":"
	}
	if values["value"] != nil && strings.EqualFold(text(values["type"]), "symboliclink") || strings.EqualFold(text(values["type"]), "junction") || strings.EqualFold(text(values["type"]), "hardlink") {
		return "ln -s " + codes(values["value"]) + " " + codes(values["path"])
	}
	form, _ := strings.CutPrefix(c.form, "^")
	if form != c.form && piped != nil && values["path"] == nil {
		if *piped != nil {
			values["path"] = *piped
		} else {
			form = "xargs -d '\\n' " + form
		}
	}
	form, printed := strings.CutPrefix(form, "<")
	if !printed {
		return r.form(c, form, values, piped)
	}
	if values["value"] == nil {
		return r.form(c, form, values, piped)
	}
	return "printf '%s\\n' " + codes(values["value"]) + " | " + r.form(c, strings.Replace(form, "touch", "tee", 1), values, piped)
}

func (r *reader) form(c *cmdlet, form string, values map[string][]word, piped *[]word) string {
	switch c.name {
	case "get-childitem", "get-item", "get-content":
		if strings.HasPrefix(strings.ToLower(text(values["path"])), "env:") {
			return "printenv"
		}
	case "start-process":
		code := started(values["filepath"], values["args"])
		if strings.EqualFold(text(values["verb"]), "runas") {
			code = "sudo " + code
		}
		return code
	case "join-path":
		if len(values["path"]) == 1 && len(values["childpath"]) == 1 {
			return "printf %s " + values["path"][0].code + "/" + values["childpath"][0].code
		}
	case "invoke-expression":
		if values["command"] == nil && piped != nil && *piped != nil {
			values["command"] = *piped
		}
	case "remove-item":
		if values["include"] != nil || values["filter"] != nil {
			form = "find {path} {recurse!-maxdepth} {recurse!1} {filter:-name} {include:-name} -delete"
		}
	case "invoke-webrequest", "invoke-restmethod":
		if piped != nil && values["body"] == nil {
			values["body"] = []word{literal("@-")}
		}
	case "new-item":
		if strings.EqualFold(text(values["type"]), "directory") {
			form = "mkdir -p -- {path}{name:/}"
		}
	case "set-service":
		return service(values)
	case "set-netfirewallprofile":
		form = map[bool]string{true: "ufw disable", false: ":"}[strings.EqualFold(text(values["enabled"]), "false")]
	case "set-mppreference":
		if !strings.Contains(joinedText(values), "true") && values["exclusionpath"] == nil {
			form = ":"
		}
	case "set-executionpolicy":
		policy, scope := strings.ToLower(text(values["executionpolicy"])), strings.ToLower(text(values["scope"]))
		form = ":"
		if scope != "process" && (policy == "bypass" || policy == "unrestricted" || scope == "localmachine" || !joined(values["executionpolicy"]).known) {
			form = "tee -- 'HKLM:/ExecutionPolicy'"
		}
	case "stop-process":
		if text(values["name"]) == "*" {
			form = "kill -9 -1"
		}
	case "remove-service":
		form = "rm -rf 'HKLM:/Services/'{name}"
	}
	return filled(form, values)
}

func joinedText(values map[string][]word) string {
	var b strings.Builder
	for _, list := range values {
		b.WriteString(strings.ToLower(text(list)))
	}
	return b.String()
}

// service is a change of a service.
func service(values map[string][]word) string {
	stops := strings.EqualFold(text(values["startuptype"]), "disabled") || strings.EqualFold(text(values["status"]), "stopped")
	if !stops {
		return ":"
	}
	return "systemctl stop " + codes(values["name"])
}

// filled puts values into a form.
func filled(form string, values map[string][]word) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(form, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inside, after, _ := strings.Cut(rest, "}")
		form = after
		i := strings.IndexAny(inside, "?!:")
		if i < 0 {
			b.WriteString(codes(values[inside]))
			continue
		}
		given, then := values[inside[:i]], inside[i+1:]
		switch {
		case inside[i] == '?' && given != nil, inside[i] == '!' && given == nil:
			b.WriteString(then)
		case inside[i] == ':' && given != nil && then == "/":
			b.WriteString(then + codes(given))
		case inside[i] == ':':
			for _, w := range given {
				b.WriteString(then + " " + w.code + " ")
			}
		}
	}
}
